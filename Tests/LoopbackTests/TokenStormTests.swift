import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Token refresh on real sockets")
    struct TokenStormTests {
        private func session(_ backend: TokenBackend, token: AccessToken? = AccessToken("stale"))
            -> AccessTokenSupervisor
        {
            let auth = NetworkService(environment: NetworkEnvironment(baseURL: backend.server.url))
            return AccessTokenSupervisor(token: token) { _ in
                try await auth.request(ItemEndpoint.refresh, as: .json(Grant.self)).accessToken
            }
        }

        private func service(
            _ backend: TokenBackend, _ session: AccessTokenSupervisor, limit: Int = 64,
            on transport: (any Transport)? = nil
        ) -> NetworkService {
            NetworkService(environment: NetworkEnvironment(baseURL: backend.server.url), authorizedBy: session) {
                $0.concurrencyLimit = ConcurrencyLimit(limit)
                $0.transport = transport
            }
        }

        @Test("On URLSession, 200 calls with an expired token cause one refresh, and every call succeeds")
        func stormOnURLSession() async throws {
            let backend = try TokenBackend()
            let service = service(backend, session(backend), limit: 16, on: URLSessionTransport.shared)
            let tally = Tally()
            await withTaskGroup(of: Void.self) { group in
                for id in 0..<200 {
                    group.addTask { await tally.run(id) { try await service.request(ItemEndpoint.item(id)) } }
                }
            }
            #expect(tally.failures.isEmpty)
            #expect(tally.answers == 200)
            #expect(backend.counts.refreshed == 1)
            #expect(backend.counts.refused <= 16)
        }

        @Test(
            "1,000 calls with an expired token cause one refresh and at most one 401 per permit; every call succeeds",
            arguments: [64, 16, 1])
        func storm(limit: Int) async throws {
            let backend = try TokenBackend(pause: limit == 1 ? .zero : .milliseconds(2))
            let service = service(backend, session(backend), limit: limit)
            let tally = Tally()
            await withTaskGroup(of: Void.self) { group in
                for id in 0..<1_000 {
                    group.addTask { await tally.run(id) { try await service.request(ItemEndpoint.item(id)) } }
                }
            }
            #expect(tally.failures.isEmpty)
            #expect(tally.answers == 1_000)
            #expect(backend.counts.refreshed == 1)
            #expect(backend.counts.refused <= limit)
            #expect(backend.counts.served == 1_000)
            #expect(backend.counts.mostInFlight <= limit)
        }

        @Test(
            "If the token expires 10 times while 64 callers use it, it is refreshed once each time; no call fails")
        func rotation() async throws {
            let backend = try TokenBackend(
                lifetime: 600, invalidations: 10, pause: .zero, refreshPause: .milliseconds(5))
            let service = service(backend, session(backend, token: AccessToken("token-1")))
            let tally = Tally()
            await withTaskGroup(of: Void.self) { group in
                for caller in 0..<64 {
                    group.addTask {
                        for call in 0..<100 {
                            let id = caller * 100 + call
                            await tally.run(id) { try await service.request(ItemEndpoint.item(id)) }
                        }
                    }
                }
            }
            #expect(tally.failures.isEmpty)
            #expect(tally.answers == 6_400)
            #expect(backend.counts.refreshed == 10)
        }

        @Test("A rejected refresh is not repeated, and every call fails with an authorization error")
        func rejected() async throws {
            let backend = try TokenBackend()
            let refresher = StubRefresher { _, _ in
                try await Task.sleep(for: .milliseconds(100))
                throw AccessToken.Rejected()
            }
            let session = AccessTokenSupervisor(token: AccessToken("stale"), refresh: refresher.refresh)
            let service = service(backend, session)
            let answers = await outcomes(of: 64, service)
            #expect(answers.count == 64)
            #expect(
                answers.allSatisfy { $0 as? GeneralRequestError == .noAuth || ($0 as? NetworkError)?.kind == .noToken })
            #expect(refresher.count == 1)
        }

        @Test("A refresh that hangs ends when its timeout expires, and every call completes")
        func hanging() async throws {
            let backend = try TokenBackend()
            let session = AccessTokenSupervisor(token: AccessToken("stale"), refreshTimeout: .milliseconds(200)) { _ in
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().asyncAfter(deadline: .now() + 30) { continuation.resume() }
                }
                return AccessToken("too late")
            }
            let service = service(backend, session)
            let start = ContinuousClock.now
            let answers = await outcomes(of: 64, service)
            #expect(answers.count == 64)
            #expect(answers.allSatisfy { $0 != nil })
            #expect(ContinuousClock.now - start < .seconds(10))
            #expect(session.accessToken == AccessToken("stale"))
        }

        @Test(
            "With one permit, a refresh on another queue completes, because waiting calls hold no permit"
        )
        func hoppingRefresh() async throws {
            let backend = try TokenBackend()
            let limit = ConcurrencyLimit(1)
            let auth = NetworkService(environment: NetworkEnvironment(baseURL: backend.server.url)) {
                $0.concurrencyLimit = limit
                $0.backoffGate = nil
            }
            let session = AccessTokenSupervisor(token: AccessToken("stale")) { _ in
                try await withCheckedThrowingContinuation { continuation in
                    DispatchQueue.global().async {
                        auth.task(ItemEndpoint.refresh, as: .json(Grant.self)).onCompletion(on: .global()) { result in
                            continuation.resume(with: result.map(\.value.accessToken))
                        }
                    }
                }
            }
            let service = NetworkService(
                environment: NetworkEnvironment(baseURL: backend.server.url), authorizedBy: session
            ) { $0.concurrencyLimit = limit }
            let tally = Tally()
            await withTaskGroup(of: Void.self) { group in
                for id in 0..<20 {
                    group.addTask { await tally.run(id) { try await service.request(ItemEndpoint.item(id)) } }
                }
            }
            #expect(tally.answers == 20)
            #expect(backend.counts.refreshed == 1)
        }

        private func outcomes(of count: Int, _ service: NetworkService) async -> [(any Error)?] {
            await withTaskGroup(of: (any Error)?.self) { group in
                for id in 0..<count {
                    group.addTask {
                        do {
                            let _: Item = try await service.request(ItemEndpoint.item(id))
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
    }
}
