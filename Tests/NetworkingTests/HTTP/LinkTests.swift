import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Link fields", .endsInTime)
struct LinkTests {
    private func response(_ headers: HTTPHeaders) throws -> HTTPResponse {
        let request = HTTPRequest(.get, try #require(URL(string: "https://api.example.com/v1/issues?page=2")))
        return HTTPResponse(.ok, headers: headers, content: .data(Data()), to: request)
    }

    @Test(
        "Relations, targets and parameters of all Link fields are parsed; quotes, commas and case follow RFC 8288")
    func reads() throws {
        let issues = "https://api.example.com/v1/issues"
        let headers = HTTPHeaders([
            HTTPHeader("Link", #"<\#(issues)?page=3>; rel="next", </v1/issues?page=9>; REL=Last ; title="a, b; c""#),
            HTTPHeader("Vary", "Accept"),
            HTTPHeader("Link", #"<?page=1>;rel="first prev";hreflang=de;hreflang=en, <>;rel=self"#),
        ])
        #expect(headers.links.map(\.relations) == [["next"], ["last"], ["first", "prev"], ["self"]])
        #expect(headers.links[1].parameters == ["title": "a, b; c"])
        #expect(headers.links[2].parameters == ["hreflang": "de"])
        let response = try response(headers)
        #expect(response.link("next")?.absoluteString == "https://api.example.com/v1/issues?page=3")
        #expect(response.link("LAST")?.absoluteString == "https://api.example.com/v1/issues?page=9")
        #expect(response.link("prev")?.absoluteString == "https://api.example.com/v1/issues?page=1")
        #expect(response.link("self")?.absoluteString == "https://api.example.com/v1/issues?page=2")
        #expect(response.link("up") == nil)
    }

    @Test(
        "Parsing stops at an invalid link and keeps the links before it",
        arguments: [
            ("", 0), ("next", 0), ("<a", 0), ("<a>", 1), ("<a>; rel", 1), ("<a>; rel=", 1), (", ,<a>;rel=x,,", 1),
            ("<a>;rel=x, b, <c>;rel=y", 1), ("<a>;;rel=x", 1), ("<a>;rel=\"x", 1),
            ("<a>;title=;rel=x, <b>;rel=y", 2), ("<a>;rel=http://x/y, <b>;rel=y", 2), ("<a>;a=\"x,y\"z, <b>", 2),
        ])
    func faults(value: String, count: Int) {
        #expect(HTTPHeaders.Link.parse(value).count == count)
    }

    @Test("A user that a server puts into a link is removed; the user of the request remains for the same server")
    func users() throws {
        func next(_ target: String, from url: String) throws -> String? {
            let request = HTTPRequest(.get, try #require(URL(string: url)))
            let response = HTTPResponse(.ok, headers: ["Link": "<\(target)>; rel=next"], to: request)
            return response.link("next")?.absoluteString
        }
        #expect(try next("https://evil:x@a.example/2", from: "https://a.example/1") == "https://a.example/2")
        #expect(try next("//evil@b.example/2", from: "https://me:pw@a.example/1") == "https://b.example/2")
        #expect(try next("https://me:pw@b.example/2", from: "https://me:pw@a.example/1") == "https://b.example/2")
        #expect(try next("https://me:pw@a.example/2", from: "https://me:pw@a.example/1") == "https://me:pw@a.example/2")
    }

    @Test("A link with an anchor or with an invalid URL is ignored")
    func anchors() throws {
        #expect(try response(["Link": #"</other>; rel=next; anchor="/elsewhere""#]).link("next") == nil)
        #expect(try response(["Link": "<http://[>; rel=next"]).link("next") == nil)
        #expect(try response([]).link("next") == nil)
    }
}
