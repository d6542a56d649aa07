import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Requests that a server has chosen", .endsInTime)
struct RedirectMarkTests {
    /// Follows redirects, and returns the marks of the requests that were sent.
    private func marks(_ targets: [String]) async throws -> [Bool] {
        let marks = Box<[Bool]>([])
        let stub = StubTransport { request in
            marks.change { $0.append(request.isElsewhere) }
            let count = marks.value.count
            return count <= targets.count ? .redirect(to: targets[count - 1]) : .text("there")
        }
        let url = try #require(URL(string: "https://api.example.com/a"))
        let response = try await RedirectFollowingTransport(base: stub).send(
            HTTPRequest(.get, url), delivering: .buffered(limit: 1 << 10))
        // A background validation of the response goes to the same server.
        #expect(response.leavingCall().request.isElsewhere == marks.value.last)
        return marks.value
    }

    @Test("After a redirect to another origin, no request carries a client certificate, even at the first origin")
    func elsewhere() async throws {
        #expect(try await marks(["/b", "https://api.example.com/c"]) == [false, false, false])
        #expect(try await marks(["https://other.example.org/b", "/c"]) == [false, true, true])
        #expect(
            try await marks(["https://other.example.org/b", "https://api.example.com/c", "/d"])
                == [false, true, true, true])
    }
}
