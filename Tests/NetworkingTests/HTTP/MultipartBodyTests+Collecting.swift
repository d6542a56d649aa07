import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Forms and other bodies that are collected before they are sent.
extension MultipartBodyTests {
    @Test("An adapter can collect a form up to a limit, and the collected form is sent")
    func collected() async throws {
        struct Signing: RequestAdapter {
            func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws {
                request.body = try await request.body.collected(upTo: 1_000)
                request.headers["X-Length"] = "\(request.body.data?.count ?? -1)"
            }
        }
        let stub = StubTransport { _ in .status(.ok) }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([Signing()])
            $0.errorMapping = .unmapped
        }
        try await service.request(Avatar())
        let request = try #require(stub.requests.first)
        #expect(request.headers["X-Length"] == "\(request.body.data?.count ?? 0)")
        #expect(request.allHeaders[.contentType]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(request.body.data?.range(of: Data("photo.jpg".utf8)) != nil)
        let large = [HTTPBody.Part.data("a", Data(count: 2_000))]
        let error =
            await Fixture.failure { try await service.request(.post("x").body(.multipart(large))) } as? NetworkError
        #expect(error?.kind == .bodyUnreadable)
        #expect(error?.reason == "the request's body: expected at most 1000 bytes to collect, found more")
        #expect(stub.requests.count == 1)
    }

    @Test("A body whose bytes arrive later can be collected; cancelling the task ends the wait")
    func collectedLater() async throws {
        let reader = LateReader()
        let body = HTTPBody.source(length: nil, isReplayable: false) { reader }
        let collecting = Task { try await body.collected() }
        while !reader.isWaiting { await Task.yield() }
        reader.give("late")
        #expect(try await collecting.value.data == Data("late".utf8))
        let never = LateReader()
        let cancelled = Task { try await HTTPBody.source(length: nil, isReplayable: false) { never }.collected() }
        while !never.isWaiting { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: (any Error).self) { try await cancelled.value }
    }

    /// A reader that has no bytes until `give(_:)` is called.
    private final class LateReader: HTTPBody.Reader {
        private let text = Box<String?>(nil)
        private let wake = Box<(@Sendable () -> Void)?>(nil)
        private let hasBeenAsked = Box(false)

        var isWaiting: Bool { hasBeenAsked.value }

        func give(_ text: String) {
            self.text.change { $0 = text }
            wake.value?()
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> HTTPBody.ReadResult {
            hasBeenAsked.change { $0 = true }
            guard let text = text.value else { return .notYet }
            self.text.change { $0 = "" }
            buffer.copyBytes(from: text.utf8)
            return text.isEmpty ? .end : .bytes(text.utf8.count)
        }

        func onReady(_ wake: @escaping @Sendable () -> Void) { self.wake.change { $0 = wake } }
    }
}
