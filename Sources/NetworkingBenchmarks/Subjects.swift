#if os(Linux)
    import CLibcurl
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
            HeadersAdapter(.standard, .keepExisting),
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

    /// libcurl's multi interface in its plain form: `curl_multi_perform` and `curl_multi_poll` on one thread. It does
    /// not decode responses.
    final class BareLibcurl: @unchecked Sendable {  // because one thread at a time runs it
        private let multi: UnsafeMutableRawPointer
        private var handles: [UnsafeMutableRawPointer] = []
        private var lists: [UnsafeMutablePointer<clibcurl_slist>] = []
        private let buffer = UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 16)

        init(_ url: URL, concurrency: Int, headers: [String] = BareLibcurl.headers) throws {
            guard clibcurl_load("libcurl.so.4") == CLIBCURL_LOADED, let multi = clibcurl_multi_init() else {
                throw URLError(.unsupportedURL)
            }
            self.multi = multi
            clibcurl_multi_set_long(multi, Int32(CCURLMOPT_MAXCONNECTS), 512)
            for header in headers.reversed() {
                let node = UnsafeMutablePointer<clibcurl_slist>.allocate(capacity: 1)
                node.initialize(to: clibcurl_slist(data: strdup(header), next: lists.last))
                lists.append(node)
            }
            for _ in 0..<concurrency {
                guard let easy = clibcurl_easy_init() else { throw URLError(.unsupportedURL) }
                clibcurl_easy_set_text(easy, Int32(CCURLOPT_URL), url.absoluteString)
                clibcurl_easy_set_long(easy, Int32(CCURLOPT_NOSIGNAL), 1)
                clibcurl_easy_set_text(easy, Int32(CCURLOPT_ACCEPT_ENCODING), "")
                clibcurl_easy_set_pointer(easy, Int32(CCURLOPT_HTTPHEADER), lists.last)
                clibcurl_easy_set_pointer(easy, Int32(CCURLOPT_WRITEDATA), buffer)
                clibcurl_easy_set_transfer(easy, Int32(CCURLOPT_WRITEFUNCTION)) { bytes, size, count, buffer in
                    if let buffer, let bytes { memcpy(buffer, bytes, min(size * count, 1 << 16)) }
                    return size * count
                }
                handles.append(easy)
            }
        }

        deinit {
            for handle in handles { clibcurl_easy_cleanup(handle) }
            clibcurl_multi_cleanup(multi)
            for node in lists {
                free(node.pointee.data)
                node.deallocate()
            }
            buffer.deallocate()
        }

        /// The header fields that the pipeline sends as well.
        static let headers = [
            "User-Agent: Benchmark/1.0 (Linux)", "Accept-Language: en", "X-Tenant: acme",
            "Authorization: Bearer token-0",
        ]

        /// Sends `calls` requests and waits for their responses.
        func send(_ calls: Int) {
            var started = min(handles.count, calls)
            var ended = 0
            for handle in handles.prefix(started) { clibcurl_multi_add(multi, handle) }
            while ended < calls {
                var running: Int32 = 0
                var result: Int32 = 0
                clibcurl_multi_perform(multi, &running)
                while let easy = clibcurl_multi_next_ended(multi, &result) {
                    clibcurl_multi_remove(multi, easy)
                    ended += 1
                    guard started < calls else { continue }
                    started += 1
                    clibcurl_multi_add(multi, easy)
                }
                if ended < calls { clibcurl_multi_poll(multi, 1_000) }
            }
        }
    }

    /// Makes `calls` calls, of which `concurrency` run at the same time.
    func atOnce(_ concurrency: Int, calls: Int, _ call: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<concurrency {
                let share = calls / concurrency + (lane < calls % concurrency ? 1 : 0)
                group.addTask { for _ in 0..<share { try await call() } }
            }
            try await group.waitForAll()
        }
    }

    extension PipelineSubject {
        /// Measures the subjects in turn, in short rounds. Returns, for each, the median processor time of a call in
        /// microseconds, and the median difference from the first subject in the same round. The difference is taken
        /// within a round because the speed of a shared machine changes during a run.
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
