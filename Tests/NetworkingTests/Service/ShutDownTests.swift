import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Shutting down a client", .endsInTime)
struct ShutDownTests {
    private let transport = ManualTransport()
    private let clock = ManualClock()

    private func service(
        _ transport: (any Transport)? = nil, _ configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = transport ?? self.transport
            $0.clock = clock.networkClock
            $0.errorMapping = .unmapped
            configure(&$0)
        }
    }

    private func kind(_ call: () async throws -> Void) async -> NetworkError.Kind? {
        (await Fixture.failure(call) as? NetworkError)?.kind
    }

    @Test("A shutdown waits for a call with its retries, and lets no other call begin")
    func drains() async throws {
        let service = service { $0.retry = RetryPolicy(retries: 1, backoff: .constant(.seconds(5))) }
        let call = service.task(.get("x"), as: .string)
        await transport.waitForRequests()
        let isDown = Box(false)
        let shutDown = Fixture.begin {
            await service.shutDown(draining: .seconds(30))
            isDown.change { $0 = true }
        }
        while await kind({ try await service.request(.get("y")) }) != .transportShutDown { await Task.yield() }
        transport.answer(.serviceUnavailable)
        while clock.sleeperCount < 3 { await Task.yield() }  // the two limits, and the retry
        clock.advance(by: .seconds(5))
        await transport.waitForRequests()
        #expect(!isDown.value)
        transport.answer(.ok, "late")
        #expect(try await call.value == "late")
        await shutDown.value
        #expect(transport.count == 2, "nothing was sent for `y`")
    }

    @Test("After the limit, or if its task is cancelled, a shutdown ends the calls", arguments: [false, true])
    func limit(isCancelled: Bool) async throws {
        let service = service()
        let call = service.task(.get("x"), as: .string)
        await transport.waitForRequests()
        let shutDown = Task { await service.shutDown(draining: .seconds(30)) }
        if isCancelled {
            shutDown.cancel()
        } else {
            while clock.sleeperCount < 2 { await Task.yield() }
            clock.advance(by: .seconds(30))
        }
        let error = await Fixture.failure { _ = try await call.value } as? NetworkError
        #expect(error?.kind == .transportShutDown && error?.reason == "the client was shut down")
        await shutDown.value
    }

    @Test("If its task is cancelled, a shutdown returns even if a call ignores its end")
    func stubborn() async {
        let isHeld = Settlement<Void>()
        let entered = Box(0)
        let service = service {
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { _, _ in
                    entered.change { $0 += 1 }
                    await withCheckedContinuation { continuation in isHeld.observe { _ in continuation.resume() } }
                }
            ])
        }
        let call = service.task(.get("x"), as: .string)
        while entered.value < 1 { await Task.yield() }
        let shutDown = Task { await service.shutDown(draining: .seconds(3_600)) }
        shutDown.cancel()
        await shutDown.value
        isHeld.settle(.success(()))
        #expect(await kind { _ = try await call.value } == .transportShutDown)
    }

    @Test("A call inside which the client is shut down is neither waited for nor ended")
    func inside() async throws {
        let box = Box<NetworkService?>(nil)
        let service = service {
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in
                    guard request.target == "/v1/last" else { return }
                    await box.value?.shutDown(draining: .seconds(30))
                }
            ])
        }
        box.change { $0 = service }
        let other = service.task(.get("other"), as: .string)
        await transport.waitForRequests()
        let last = service.task(.get("last"), as: .string)
        while clock.sleeperCount < 2 { await Task.yield() }
        clock.advance(by: .seconds(30))
        #expect(await kind { _ = try await other.value } == .transportShutDown)
        await transport.waitForRequests(2)
        transport.answer()
        transport.answer(.ok, "bye")
        #expect(try await last.value == "bye")
        box.change { $0 = nil }
    }

    @Test("Derived clients are shut down, too; the client that they were derived from goes on")
    func derived() async throws {
        let service = service()
        let child = service.client.with { $0.retry = .standard }
        let first = NetworkService(client: child)
        let second = NetworkService(client: child.with { _ in }.with { _ in })  // the one between is released
        await child.shutDown(draining: .seconds(1))
        #expect(await kind { try await first.request(.get("x")) } == .transportShutDown)
        #expect(await kind { try await second.request(.get("x")) } == .transportShutDown)
        #expect(
            await kind { try await NetworkService(client: child.with { _ in }).request(.get("x")) }
                == .transportShutDown)
        let call = service.task(.get("x"), as: .string)
        await transport.waitForRequests()
        transport.answer(.ok, "on")
        #expect(try await call.value == "on")
    }

    @Test("A call that is made inside another call is sent during a shutdown")
    func nested() async throws {
        let box = Box<NetworkService?>(nil)
        let isHeld = Settlement<Void>()
        let stub = StubTransport { .text($0.target) }
        let service = service(stub) {
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in
                    guard request.target == "/v1/outer" else { return }
                    try await isHeld.value()
                    request.headers["X-Inner"] = try await box.value?.request(.get("inner"), as: .string)
                }
            ])
        }
        box.change { $0 = service }
        let call = service.task(.get("outer"), as: .string)
        while service.client.calls.count < 1 { await Task.yield() }
        let shutDown = Task { await service.shutDown(draining: .seconds(30)) }
        while await kind({ try await service.request(.get("y")) }) != .transportShutDown { await Task.yield() }
        isHeld.settle(.success(()))
        #expect(try await call.value == "/v1/outer")
        await shutDown.value
        let sent = stub.requests.filter { $0.target != "/v1/y" }.map { $0.headers["X-Inner"] }
        #expect(sent == [nil, "/v1/inner"])
        box.change { $0 = nil }
    }

    @Test("Event streams end at once: while they connect, read or wait for a connection", arguments: 0..<3)
    func streams(state: Int) async throws {
        struct Events: Transport {
            let state: Int
            let asked: Settlement<Void>

            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                if state == 0 {
                    asked.settle(.success(()))
                    try await Settlement<Void>().value()
                }
                let first = Box<Data?>(Data("data: a\n\n".utf8))
                let body = IncomingBody(pull: {
                    if let chunk = first.value {
                        first.change { $0 = nil }
                        return chunk
                    }
                    asked.settle(.success(()))
                    if state == 1 { try await Settlement<Void>().value() }
                    return nil
                })
                return HTTPResponse(
                    .ok, headers: [.contentType(.eventStream)], content: .stream(body), to: request)
            }
        }
        let asked = Settlement<Void>()
        let service = service(Events(state: state, asked: asked))
        let reading = Task {
            var events: [String] = []
            let error = await Fixture.failure {
                for try await event in service.events(.get("news")) { events.append(event.data) }
            }
            return (events, (error as? NetworkError)?.kind)
        }
        try await asked.value()
        if state == 2 { while clock.sleeperCount < 1 { await Task.yield() } }
        await service.shutDown(draining: .seconds(30))
        let (events, kind) = await reading.value
        #expect(events == (state == 0 ? [] : ["a"]) && kind == .transportShutDown)
    }
}
