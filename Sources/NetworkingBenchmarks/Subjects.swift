#if os(Linux)
    import Foundation
    import FoundationNetworking
    import Networking

    /// The whole pipeline: three adapters, a token, a limit, validation, JSON decoding.
    struct PipelineSubject: Sendable {
        let service: NetworkService
        let session: AccessTokenSupervisor

        /// - Parameter configure: Changes the configuration before the service is created.
        init(
            _ url: URL, on transport: any Transport, token: String = "token-0",
            configure: (inout NetworkConfiguration) -> Void = { _ in }
        ) {
            let environment = NetworkEnvironment(baseURL: url)
            session = PipelineSubject.session(environment, transport, token)
            service = NetworkService(environment: environment, authorizedBy: session) {
                $0.transport = transport
                $0.requestAdaptingService = RequestAdaptingService(PipelineSubject.adapters)
                configure(&$0)
            }
        }

        private static let adapters: [any RequestAdapter] = [
            HeadersAdapter([.userAgent(product: "Benchmark", version: "1.0")]),
            HeadersAdapter(["X-Tenant": "acme"]),
        ]

        private static func session(
            _ environment: NetworkEnvironment, _ transport: any Transport, _ token: String
        ) -> AccessTokenSupervisor {
            let auth = NetworkService(environment: environment) { $0.transport = transport }
            return AccessTokenSupervisor(token: AccessToken(token)) { _ in
                let grant: Grant = try await auth.request(BenchmarkEndpoint.refresh)
                return AccessToken(grant.token)
            }
        }
    }

    /// A plain `URLSession` with a delegate. Its benchmark also decodes the response.
    final class BareURLSession: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // because of the lock
        private var session: URLSession?
        private let lock = NSLock()
        private var waiting: [Int: (data: Data, done: CheckedContinuation<Data, any Error>)] = [:]

        override init() {
            super.init()
            session = URLSession(configuration: .withoutPolicy, delegate: self, delegateQueue: nil)
        }

        func data(from url: URL) async throws -> Data {
            try await withCheckedThrowingContinuation { continuation in
                guard let task = session?.dataTask(with: url) else {
                    return continuation.resume(throwing: URLError(.cancelled))
                }
                lock.withLock { waiting[task.taskIdentifier] = (Data(), continuation) }
                task.resume()
            }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            lock.withLock { waiting[dataTask.taskIdentifier]?.data.append(data) }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let call = lock.withLock({ waiting.removeValue(forKey: task.taskIdentifier) }) else { return }
            if let error { call.done.resume(throwing: error) } else { call.done.resume(returning: call.data) }
        }
    }

    /// Makes `calls` calls. Up to `concurrency` of them run at the same time.
    ///
    /// - Returns: The duration of each call.
    @discardableResult
    func atOnce(
        _ concurrency: Int, calls: Int, _ call: @escaping @Sendable () async throws -> Void
    ) async throws -> Latencies {
        try await withThrowingTaskGroup(of: Latencies.self) { group in
            for lane in 0..<concurrency {
                let share = calls / concurrency + (lane < calls % concurrency ? 1 : 0)
                group.addTask {
                    var latencies = Latencies()
                    for _ in 0..<share {
                        let start = Latencies.now()
                        try await call()
                        latencies.add(since: start)
                    }
                    return latencies
                }
            }
            return try await group.reduce(into: Latencies()) { $0.add($1) }
        }
    }

    extension PipelineSubject {
        /// Measures the subjects in turn, in short rounds. Returns for each subject the median processor time of a call
        /// in microseconds, and the median difference from the first subject. Each difference is taken within one
        /// round, because the speed of a shared machine changes during a run.
        static func compare(_ subjects: [PipelineSubject], isQuick: Bool) async throws -> [(time: Double, more: Double)]
        {
            let calls = isQuick ? 1_000 : 3_000
            var rounds: [[Double]] = []
            for _ in 0..<(isQuick ? 5 : 75) {
                var round: [Double] = []
                for subject in subjects {
                    round.append(
                        try await Measurement.of {
                            for _ in 0..<calls { try await subject.service.request(BenchmarkEndpoint.item(1)) as Void }
                            return calls
                        }.microsecondsPerCall)
                }
                rounds.append(round)
            }
            return subjects.indices.map { index in
                (rounds.map { $0[index] }.median, rounds.map { $0[index] - $0[0] }.median)
            }
        }
    }
#endif
