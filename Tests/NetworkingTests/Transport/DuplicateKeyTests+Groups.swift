import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Requests of one group.
extension DuplicateKeyTests {
    @Test("Requests of one group replace each other even if they differ, and none gets another request's response")
    func groups() async throws {
        func search(_ text: String) -> Search {
            var search = Search(text: text)
            search.settings.duplicateGroup = "search"
            return search
        }
        let service = service(.always(.replace))
        let first = begin(service, search("s"))
        await transport.waitForRequests()
        let second = begin(service, search("sw"))
        await transport.waitForRequests(2)
        #expect(await result(first) == "cancelled")
        let other = begin(service, Search(text: "elsewhere"))
        await transport.waitForRequests(3)
        for _ in 0..<3 { transport.answer(.ok, "found") }
        #expect(await result(second) == "found")
        #expect(await result(other) == "found")
        let joining = self.service(.always(.join))
        let both = [begin(joining, search("a")), begin(joining, search("b"))]
        await transport.waitForRequests(2)
        for _ in both { transport.answer(.ok, "its own") }
        for task in both { #expect(await result(task) == "its own") }
        #expect(transport.count == 5)
    }

    @Test("Streamed requests of a group, and POSTs with different idempotency keys, never share a response")
    func neverMixed() async throws {
        let stream = HTTPBody.source(length: 1, isReplayable: true) { try HTTPBody.string("x").open() }
        var upload = Search(method: .put, body: stream)
        upload.settings.duplicateGroup = "uploads"
        let service = service(.always(.join, includesUnsafeMethods: true))
        let calls = [
            begin(service, upload), begin(service, upload),
            begin(service, Search(method: .post, headers: [.idempotencyKey: "1"])),
            begin(service, Search(method: .post, headers: [.idempotencyKey: "2"])),
        ]
        await transport.waitForRequests(4)
        for _ in calls { transport.answer(.ok, "its own") }
        for task in calls { #expect(await result(task) == "its own") }
    }

    @Test("In a group, calls with different size limits do not share a response")
    func boundsInAGroup() async throws {
        let transport = ManualTransport()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.duplicates = .always(.join)
        }
        func settings(_ size: Int?) -> RequestSettings {
            var settings = RequestSettings { $0.maximumResponseSize = size }
            settings.duplicateGroup = "search"
            return settings
        }
        async let small = service.request(.get("x"), as: .data, with: settings(3))
        await transport.waitForRequests()
        async let large = service.request(.get("x"), as: .data, with: settings(nil))
        await transport.waitForRequests(2)
        transport.answer(.ok, "text")
        transport.answer(.ok, "text")
        #expect(try await large == Data("text".utf8))
        var tooSmall = false
        do { _ = try await small } catch { tooSmall = true }
        #expect(tooSmall)
    }
}
