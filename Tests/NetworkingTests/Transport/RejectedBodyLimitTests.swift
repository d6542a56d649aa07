import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// The body of a rejected response ends after 1 MiB, after 5 s without a byte, and 30 s after its head, on the clock of
/// the client.
@Suite("Limits of rejected bodies", .endsInTime)
struct RejectedBodyLimitTests {
    private enum Body: CaseIterable {
        /// The transport returns the body as a stream.
        case streamed
        /// A transfer of an engine collects the body.
        case collected
    }

    /// A transport whose responses have a body that the test writes.
    private struct WritingTransport: Transport {
        let status: HTTPStatus
        let form: Body
        /// Returns the next bytes of the body; nil at its end.
        let next: @Sendable () async throws -> Data?

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            guard form == .collected else {
                return HTTPResponse(status, content: .stream(IncomingBody(pull: next)), to: request)
            }
            let transfer = Networking.Transfer(request, delivering: delivery) { BytePipe(capacity: 1 << 20) }
            let engine = Box<Task<Void, Never>?>(nil)
            let running = Task {
                let head = ResponseHead(status: status, headers: [:], version: "1.1")
                transfer.receiveHead(head, facts: TransferFacts(), stop: { engine.value?.cancel() })
                do {
                    while let bytes = try await next() {
                        guard bytes.withUnsafeBytes({ transfer.receive($0) }) == .taken else { return }
                    }
                    transfer.finish(TransferFacts())
                } catch { transfer.fail(NetworkError(.cancelled)) }
            }
            engine.change { $0 = running }
            defer { running.cancel() }
            return try await transfer.response()
        }
    }

    private let clock = ManualClock()

    private func service(
        _ status: HTTPStatus, _ form: Body, settings set: (inout RequestSettings) -> Void = { _ in },
        _ next: @escaping @Sendable () async throws -> Data?
    ) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = WritingTransport(status: status, form: form, next: next)
            $0.clock = clock.networkClock
            set(&$0.settings)
        }
    }

    private func failure(_ call: () async throws -> Void) async -> NetworkError? {
        let error = await Fixture.failure(call)
        return error as? NetworkError ?? (error as? GeneralRequestError)?.cause
    }

    /// Returns the error of a call, and advances the clock until the call has ended.
    private func failureWhileTimePasses(_ call: @escaping @Sendable () async throws -> Void) async throws
        -> NetworkError?
    {
        let isOver = Box(false)
        async let error = {
            let error = await failure(call)
            isOver.change { $0 = true }
            return error
        }()
        try await clock.advance(by: .milliseconds(100)) { isOver.value }
        return await error
    }

    /// Returns a closure that returns texts, and then waits until its task is cancelled.
    private func stalling(after texts: String...) -> @Sendable () async throws -> Data? {
        let left = Box(texts)
        return {
            var text: String?
            left.change { text = $0.isEmpty ? nil : $0.removeFirst() }
            if let text { return Data(text.utf8) }
            try await Settlement<Void>().value()
            return nil
        }
    }

    @Test("A body that stalls ends after 5 s", arguments: Body.allCases)
    private func stalled(form: Body) async throws {
        let service = service(.notFound, form, stalling(after: "pa", "rt"))
        let known = try #require(try await failureWhileTimePasses { try await service.request(UserEndpoint.open) })
        #expect(clock.now.offset >= .seconds(5))
        #expect(known.kind == .unacceptableStatus)
        #expect(known.reason?.hasSuffix(": no byte for 5 s") == true)
        #expect(known.response?.status == .notFound)
    }

    @Test("A body that arrives slowly ends 30 s after its head", arguments: Body.allCases)
    private func slow(form: Body) async throws {
        let networkClock = clock.networkClock
        let service = service(.notFound, form) {
            try await networkClock.sleep(networkClock.now() + .seconds(4))
            return Data("x".utf8)
        }
        async let error = failure { try await service.request(UserEndpoint.open) }
        while clock.now.offset < .seconds(30), !Task.isCancelled { await clock.advanceToNextSleeper(of: 2) }
        let known = try #require(await error)
        #expect(known.kind == .unacceptableStatus)
        #expect(
            known.reason == "404 Not Found; its body was cut off after 7 bytes: it was not complete 30 s after the head"
        )
        #expect(known.response?.data == Data("xxxxxxx".utf8))
    }

    @Test("A body that is too long ends after 1 MiB, or after the maximum size of the call", arguments: Body.allCases)
    private func long(form: Body) async throws {
        for (maximum, size) in [(nil, 1 << 20), (1_000, 1_000), (0, 0), (-1, 0)] as [(Int?, Int)] {
            let service = service(.notFound, form, settings: { $0.maximumResponseSize = maximum }) {
                Data(repeating: 0x20, count: 70_000)
            }
            let error = await failure { try await service.request(UserEndpoint.open) }
            #expect(error?.kind == .unacceptableStatus)
            #expect(error?.response?.data.count == size)
            #expect(error?.reason?.contains("cut off after \(size) bytes: the response has more than \(size)") == true)
        }
    }

    @Test("A complete body is not cut off, and its timer ends", arguments: Body.allCases)
    private func complete(form: Body) async throws {
        let left = Box(["whole", " page"])
        let service = service(.notFound, form) {
            var text: String?
            left.change { text = $0.isEmpty ? nil : $0.removeFirst() }
            return text.map { Data($0.utf8) }
        }
        let error = await failure { try await service.request(UserEndpoint.open) }
        #expect(error?.reason == nil)
        #expect(error?.response?.data == Data("whole page".utf8))
    }

    @Test("A call that accepts the status reads the whole body, without a limit of time", arguments: Body.allCases)
    private func accepted(form: Body) async throws {
        let left = Box(3)
        let networkClock = clock.networkClock
        let service = service(.notFound, form, settings: { $0.validators = [] }) {
            guard left.value > 0 else { return nil }
            left.change { $0 -= 1 }
            try await networkClock.sleep(networkClock.now() + .seconds(20))
            return Data(repeating: 0x20, count: 1 << 19)
        }
        async let data = service.request(.get("x"), as: .data)
        for _ in 0..<3 { await clock.advanceToNextSleeper() }
        #expect(try await data.count == 3 << 19)
        #expect(clock.now.offset == .seconds(60))
    }

    @Test("The deadline and the cancellation of the call win", arguments: Body.allCases)
    private func interruptions(form: Body) async throws {
        let timed = service(.notFound, form, settings: { $0.timeouts.total = .seconds(3) }, stalling(after: "part"))
        async let late = failure { try await timed.request(UserEndpoint.open) }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(3))
        #expect(await late?.kind == .deadlineTimedOut)

        let service = service(.notFound, form, stalling(after: "part"))
        let call = Task { await failure { try await service.request(UserEndpoint.open) }?.kind }
        await clock.waitForSleepers(within: .seconds(5))
        call.cancel()
        #expect(await call.value == .cancelled)
    }

    @Test("The page of an error has these limits, too, if the call reads a stream or a file")
    func pages() async throws {
        let service = service(.notFound, .streamed, stalling(after: "part"))
        for isFile in [true, false] {
            let error = try await failureWhileTimePasses {
                if isFile {
                    _ = try await service.request(.get("x"), as: .file(at: URL(fileURLWithPath: "/tmp/never")))
                } else {
                    _ = try await service.request(.get("x"), as: .stream)
                }
            }
            let known = try #require(error)
            #expect(known.kind == .unacceptableStatus)
            #expect(known.reason?.hasSuffix(": no byte for 5 s") == true)
        }
    }

    @Test("The cache does not store a body that is cut off")
    func cache() async throws {
        let transport = StubTransport { _ in
            .text("page", status: .notFound, headers: [.cacheControl: "max-age=60"])
        }
        struct Cutting: Transport {
            let base: any Transport
            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                try await base.send(request, delivering: delivery)
                    .cutOff(by: NetworkError(.truncatedBody), keeping: 2)
            }
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = Cutting(base: transport)
            $0.clock = clock.networkClock
            $0.cache = ResponseCache()
        }
        for _ in 0..<2 {
            let error = await failure { try await service.request(UserEndpoint.open) }
            #expect(error?.response?.data == Data("pa".utf8))
        }
        #expect(transport.requests.count == 2)
    }

    @Test("A call that accepts a status does not share the response of a call that rejects the status")
    func duplicates() async throws {
        let transport = ManualTransport()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.clock = clock.networkClock
            $0.duplicates = .always(.join)
        }
        async let first: String = service.request(.get("x"), as: .string)
        await transport.waitForRequests(1)
        let settings = RequestSettings { $0.validators = [] }
        async let second: String = service.request(.get("x"), as: .string, with: settings)
        await transport.waitForRequests(2)
        for _ in 0..<2 { transport.answer(.ok, "ok") }
        #expect(try await first + second == "okok")
    }
}
