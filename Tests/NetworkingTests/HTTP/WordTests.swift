import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Methods and statuses", .endsInTime)
struct WordTests {
    @Test(
        "Methods have names, other methods can be created, and a method is safe, idempotent or neither",
        .row("I-05", "P-03"))
    func methods() {
        let methods: [HTTPMethod] = [.get, .post, .put, .patch, .delete, .head, .connect, .options, .trace, "PROPFIND"]
        #expect(
            methods.map(\.rawValue) == [
                "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "CONNECT", "OPTIONS", "TRACE", "PROPFIND",
            ])
        #expect(methods.filter(\.isSafe) == [.get, .head, .options, .trace, "PROPFIND"])
        #expect(methods.filter(\.isIdempotent) == [.get, .put, .delete, .head, .options, .trace, "PROPFIND"])
        #expect(HTTPMethod("MKCOL").isIdempotent && !HTTPMethod("MKCOL").isSafe)
        #expect(!HTTPMethod("LOCK").isIdempotent && !HTTPMethod("propfind").isIdempotent)
        #expect(HTTPMethod("get") != .get)
    }

    @Test("The default method of an endpoint is GET", .row("N-08"))
    func defaultMethod() {
        #expect(UserEndpoint.open.method == .get)
    }

    @Test(
        "Every code that RonasIT, iONess and Cloudflare name has a reason phrase; any other code is allowed",
        .row("R-28"))
    func statuses() {
        let codes =
            Array(100...102) + Array(200...208) + Array(300...308) + Array(400...417) + [
                418, 419, 420, 421, 422, 423, 424,
            ]
            + [425, 426, 428, 429, 431, 444, 451, 494, 495, 496, 497, 499] + Array(500...511) + [
                520, 521, 522, 523, 524, 598, 599,
            ]
        for code in codes { #expect(!HTTPStatus(code).reasonPhrase.isEmpty, "\(code)") }
        #expect(HTTPStatus(520).code == 520 && HTTPStatus(299).description == "299")
        #expect(HTTPStatus(404).description == "404 Not Found")
    }

    @Test("A status belongs to a class")
    func classes() {
        #expect(HTTPStatus(100).isInformational && HTTPStatus(204).isSuccessful && HTTPStatus(304).isRedirection)
        #expect(HTTPStatus(404).isClientError && HTTPStatus(520).isServerError && HTTPStatus(99) < .continue)
    }

    @Test("Typed options are part of a request and have a default", .row("P-05"))
    func options() throws {
        enum Priority: HTTPRequest.Option { static let defaultValue = 0 }
        enum Label: HTTPRequest.Option { static let defaultValue: String? = nil }
        var request = HTTPRequest(.get, try #require(URL(string: "https://x.example")))
        #expect(request[option: Priority.self] == 0 && request[option: Label.self] == nil)
        request[option: Priority.self] = 5
        request[option: Label.self] = "a"
        request[option: Priority.self] = 6
        #expect(request[option: Priority.self] == 6 && request[option: Label.self] == "a")
    }

    @Test(
        "A body has data, a length and headers; a Content-Type of the request takes precedence",
        .row("P-04", "I-08", "I-09", "I-11"))
    func bodies() throws {
        #expect(HTTPBody.empty.isEmpty && HTTPBody.empty.headers.isEmpty)
        let data = HTTPBody.data(Data([1, 2]))
        #expect(data.length == 2 && data.data == Data([1, 2]) && data.headers.contentType == .octetStream)
        let text = try HTTPBody.string("grüß", encoding: .isoLatin1).encoded()
        #expect(
            text.data == Data([0x67, 0x72, 0xFC, 0xDF])
                && text.headers[.contentType] == "text/plain; charset=iso-8859-1")
        let json = try HTTPBody.json(["a": 1]).encoded()
        #expect(json.data == Data(#"{"a":1}"#.utf8) && json.headers.contentType == .json && json.isReplayable)
        var request = HTTPRequest(.post, try #require(URL(string: "https://x.example")), body: json)
        #expect(request.allHeaders[.contentType] == "application/json")
        request.headers.contentType = .problemJSON
        #expect(request.allHeaders[.contentType] == "application/problem+json")
    }

    @Test("A text that the encoding cannot represent causes an error with an underlying error", .row("I-09"))
    func unencodableText() {
        let error = #expect(throws: NetworkError.self) { _ = try HTTPBody.string("日本", encoding: .isoLatin1).encoded() }
        #expect(error?.kind == .bodyNotEncodable && error?.underlying is TextNotEncodable)
    }

    @Test(
        "A custom body has its own headers; an error of its closure is the underlying error of the call's error",
        .row("P-04"))
    func ownBody() throws {
        let body = try HTTPBody.encoded(headers: ["X-Form": "1", .contentType: "text/csv"]) { Data("a,b".utf8) }
            .encoded()
        #expect(body.data == Data("a,b".utf8) && body.headers["X-Form"] == "1")
        let error = #expect(throws: NetworkError.self) {
            _ = try HTTPBody.encoded(headers: []) { throw UserError.taken }.encoded()
        }
        #expect(error?.underlying as? UserError == .taken)
    }

    @Test(
        "A request that sets Content-Length or Transfer-Encoding itself is refused",
        arguments: [HTTPHeader.Name.contentLength, "transfer-encoding"])
    func framing(name: HTTPHeader.Name) throws {
        let request = HTTPRequest(.post, try #require(URL(string: "https://x.example")), headers: [name: "1"])
        #expect(#expect(throws: NetworkError.self) { try request.validate() }?.kind == .invalidRequest)
    }
}
