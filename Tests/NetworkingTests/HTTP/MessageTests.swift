import Foundation
import Testing

@testable import Networking

@Suite("Messages are value types", .endsInTime)
struct MessageTests {
    private let request: HTTPRequest
    private let response: HTTPResponse

    init() throws {
        request = HTTPRequest(.get, try #require(URL(string: "https://a.example/")), headers: ["A": "1"])
        response = HTTPResponse(.ok, headers: ["B": "1"], content: .data(Data("x".utf8)), to: request)
    }

    @Test("Changing any part of a copy of a response leaves the original unchanged")
    func responses() {
        var copy = response
        copy.status = .notFound
        copy.headers["B"] = "2"
        copy.content = .data(Data())
        copy.timing.total = .seconds(1)
        copy.request.method = .head
        copy.request.headers["A"] = "2"
        #expect(response.status == .ok)
        #expect(response.headers["B"] == "1")
        #expect(response.data == Data("x".utf8))
        #expect(response.timing == HTTPResponse.Timing())
        #expect(response.request.method == .get)
        #expect(response.request.headers["A"] == "1")
        #expect(request.headers["A"] == "1")
        #expect(copy.status == .notFound)
        #expect(copy.headers["B"] == "2")
        #expect(copy.data.isEmpty)
        #expect(copy.timing.total == .seconds(1))
        #expect(copy.request.method == .head)
        #expect(copy.request.headers["A"] == "2")
    }

    @Test("Changing the original leaves an earlier copy unchanged")
    func originals() {
        var changing = response
        let before = changing
        changing.headers.removeAll { _ in true }
        changing.status = .accepted
        #expect(before.headers["B"] == "1")
        #expect(before.status == .ok)
    }

    @Test("Many threads can change their own copies at once")
    func threads() {
        let response = response
        DispatchQueue.concurrentPerform(iterations: 200) { index in
            var copy = response
            copy.headers["B"] = "\(index)"
            copy.request.headers["A"] = "\(index)"
            #expect(copy.headers["B"] == "\(index)" && copy.request.headers["A"] == "\(index)")
        }
        #expect(response.headers["B"] == "1")
    }

    @Test("Each kind of network is a set of its own, and all kinds together are all networks")
    func networkAccess() {
        let kinds: [NetworkAccess] = [.cellular, .expensive, .constrained]
        for (index, kind) in kinds.enumerated() {
            for other in kinds[(index + 1)...] { #expect(kind.isDisjoint(with: other)) }
        }
        #expect(NetworkAccess(kinds) == .all && kinds.map(\.rawValue) == [1, 2, 4])
    }

    @Test("Changing a copy of a request leaves the original unchanged")
    func copyOnWrite() throws {
        let first = HTTPRequest(.get, try #require(URL(string: "https://a.example/")))
        var second = first
        second.headers["X"] = "1"
        second.method = .put
        second.timeouts.idle = .seconds(1)
        second.admission = .unlimited
        #expect(first.headers.isEmpty)
        #expect(first.method == .get)
        #expect(first.timeouts.idle == nil)
        #expect(first.admission == .required)
        #expect(second.headers["X"] == "1")
    }
}
