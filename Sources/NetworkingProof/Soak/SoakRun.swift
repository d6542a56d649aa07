#if os(Linux)
    import Foundation
    import Networking
    import NetworkingTesting

    /// The mixed traffic of 64 workers, and its measurements.
    struct SoakRun: Sendable {
        static let workers = 64

        private let plan: SoakPlan
        private let server: URL
        private let folder: URL
        private let seed: UInt64
        private let ledger = SoakLedger()
        private let rest = SoakRest()

        init(_ plan: SoakPlan, server: URL, folder: URL, seed: UInt64) throws {
            self.plan = plan
            self.server = server
            self.folder = folder
            self.seed = seed
            for worker in 0..<SoakRun.workers {
                let place = folder.appending(path: "\(worker)")
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                try SoakServer.file.write(to: place.appending(path: "upload"))
            }
        }

        /// - Parameter note: Receives each window when it ends.
        func run(_ note: @Sendable (SoakWindow) -> Void) async throws -> SoakResult {
            let first = try await beginning()
            var result = SoakResult(plan: plan, uses: (first, first))
            let begun = ContinuousClock.now
            let traffic = Task { try await makeTraffic() }
            for end in stride(from: plan.window, through: plan.seconds, by: plan.window) where !ledger.isEnded {
                let window = try await measure(until: end, since: begun)
                result.windows.append(window)
                result.calls += window.calls
                note(window)
            }
            ledger.end()
            rest.end()
            try await traffic.value
            result.faults = ledger.violations
            result.uses.last = try await ending(first)
            return result
        }

        /// Makes a first call, which creates the resources that exist once for a process. Returns the resources in use
        /// after this call.
        private func beginning() async throws -> SoakSample {
            do {
                let service = try service()
                _ = try await service.request(.get("missing/\(0)"), as: .string)
            } catch is GeneralRequestError {}
            try await Task.sleep(for: .milliseconds(500))
            return .now
        }

        /// Waits until the transport has closed its connections, which takes a short time. Returns the resources in
        /// use.
        private func ending(_ first: SoakSample) async throws -> SoakSample {
            for _ in 0..<50 where SoakSample.now.descriptors > first.descriptors {
                try await Task.sleep(for: .milliseconds(100))
            }
            return .now
        }

        private func measure(until end: Int, since begun: ContinuousClock.Instant) async throws -> SoakWindow {
            var window = SoakWindow()
            while ContinuousClock.now - begun < .seconds(end) {
                try await Task.sleep(for: .milliseconds(100))
                window.add(.now)
            }
            // Without calls in progress, the resident memory is what the process keeps between calls.
            rest.begin()
            defer { rest.end() }
            for _ in 0..<600 where rest.waiting < SoakRun.workers && !ledger.isEnded {
                try await Task.sleep(for: .milliseconds(50))
            }
            if rest.waiting < SoakRun.workers, !ledger.isEnded {
                ledger.add("\(SoakRun.workers - rest.waiting) calls did not end within 30 s")
            }
            try await Task.sleep(for: .milliseconds(500))
            AllocatorArenas.trim()
            window.residentKiB = SoakSample.now.residentKiB
            window.end(at: end, ledger.take())
            return window
        }

        private func makeTraffic() async throws {
            let service = try service()
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<SoakRun.workers { group.addTask { await work(service, worker) } }
            }
            await service.reset()
        }

        private func work(_ service: NetworkService, _ worker: Int) async {
            var random = SeededGenerator(seed: seed &* 1_000 &+ UInt64(worker))
            let place = folder.appending(path: "\(worker)")
            var number = worker
            while !ledger.isEnded {
                await rest.wait()
                number += SoakRun.workers
                // At first, all workers make calls of the same kind. Therefore, the pools of threads and buffers, which
                // never shrink, have their largest size before the measurement begins.
                let round = number / SoakRun.workers / 10
                let kind = round < plan.calls.count ? round : Int.random(in: 0..<plan.calls.count, using: &random)
                let call = plan.calls[kind]
                let begun = ContinuousClock.now
                do { try await call.run(service, number, in: place) } catch {
                    ledger.add("call \(number), \(call): \(error)")
                }
                ledger.add(call.isTimed ? ContinuousClock.now - begun : nil)
            }
        }

        /// Returns a service with all policies and its own transport. The connections are closed when the transport is
        /// released.
        private func service() throws -> NetworkService {
            let transport = try CurlTransport()
            let tokens = NetworkService(environment: NetworkEnvironment(baseURL: server)) {
                $0.transport = transport
            }
            let session = AccessTokenSupervisor(token: AccessToken("0")) { _ in
                AccessToken(try await tokens.request(.post("token"), as: .string))
            }
            return NetworkService(environment: NetworkEnvironment(baseURL: server), authorizedBy: session) {
                $0.transport = transport
                $0.retry = RetryPolicy(retries: 1, backoff: .constant(.milliseconds(1)), jitter: .full)
                $0.retry?.budget = RetryPolicy.Budget()
                $0.circuitBreaker = CircuitBreaker(minimumCalls: 1_000_000)
                // The cache is soon full, and removes responses from then on.
                $0.cache = ResponseCache(capacity: 1 << 20)
                $0.cookies = CookieJar()
            }
        }
    }
#endif
