import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Multipart bodies", .endsInTime)
struct MultipartBodyTests {
    struct Avatar: Endpoint {
        var method: HTTPMethod = .post
        var path: EndpointPath { "avatar" }
        var body: HTTPBody {
            .multipart([
                .data("photo", Data("jpeg".utf8), fileName: "photo.jpg"),
                .data("small", Data("png".utf8), fileName: "s.png"),
                .field("age", 36), .field("name", "Ada"),
            ])
        }
    }

    private func sent(_ endpoint: some Endpoint<Untyped>) async throws -> (
        method: HTTPMethod, type: String, body: String
    ) {
        let stub = StubTransport { _ in .status(.ok) }
        try await NetworkService(environment: Fixture.environment) { $0.transport = stub }.request(endpoint)
        let request = stub.requests[0]
        let body = try await request.body.spooled(inMemory: 1 << 20, idle: .seconds(1))
        #expect(request.body.length == body.count)
        return (request.method, request.allHeaders[.contentType] ?? "", String(decoding: body, as: UTF8.self))
    }

    @Test("Parts are sent in order, with their names and types", .row("R-06", "R-29", "R-30"))
    func parts() async throws {
        let (method, type, body) = try await sent(Avatar())
        let boundary = try #require(type.firstMatch(of: /^multipart\/form-data; boundary=([0-9A-Za-z]{30})$/)?.output.1)
        #expect(method == .post)
        #expect(
            body.replacingOccurrences(of: "\r\n", with: "\n") == """
                --\(boundary)
                Content-Disposition: form-data; name="photo"; filename="photo.jpg"
                Content-Type: image/jpeg

                jpeg
                --\(boundary)
                Content-Disposition: form-data; name="small"; filename="s.png"
                Content-Type: image/png

                png
                --\(boundary)
                Content-Disposition: form-data; name="age"

                36
                --\(boundary)
                Content-Disposition: form-data; name="name"

                Ada
                --\(boundary)--

                """)
    }

    @Test("The endpoint's own method is used; every scalar is sent; a value that cannot be encoded is an error")
    func methods() async throws {
        #expect(try await sent(Avatar(method: .put)).method == .put)
        struct Fields: Encodable, Sendable {
            var flag = true
            var ratio = 0.5
            var list = [1, 2]
        }
        struct Form: Endpoint {
            let body: HTTPBody
            var path: EndpointPath { "form" }
            var method: HTTPMethod { .post }
        }
        let body = try await sent(Form(body: .multipart(fields: Fields(), files: []))).body
        for part in [
            "\"flag\"\r\n\r\ntrue\r\n", "\"ratio\"\r\n\r\n0.5\r\n", "\"list[]\"\r\n\r\n1\r\n",
            "\"list[]\"\r\n\r\n2\r\n",
        ] {
            #expect(body.contains(part))
        }
        let error = await Fixture.failure {
            _ = try await sent(Form(body: .multipart(fields: ["a": Double.nan], files: [])))
        }
        #expect((error as? NetworkError)?.kind == .bodyNotEncodable)
    }

    @Test("An invalid boundary or an unsafe part header is refused before sending, and names are escaped")
    func injection() async throws {
        struct Form: Endpoint {
            let body: HTTPBody
            var path: EndpointPath { "form" }
            var method: HTTPMethod { .post }
        }
        let evil = MediaType("image", "png", ["x": "1\r\nX-Evil: 1"])
        for body in [
            HTTPBody.multipart([.field("a", 1)], boundary: "a\r\nb"), .multipart([.field("a", 1)], boundary: ""),
            .multipart([.field("a", 1)], boundary: String(repeating: "x", count: 71)),
            .multipart([.data("a", Data(), fileName: "a.png", contentType: evil)]),
        ] {
            let error = await Fixture.failure { _ = try await sent(Form(body: body)) } as? NetworkError
            #expect(error?.kind == .bodyNotEncodable || error?.kind == .invalidRequest, "\(error as Any)")
        }
        let named = try await sent(Form(body: .multipart([.data("a\"\r\nX-Evil: 1", Data(), fileName: "\"\r\n")]))).body
        #expect(!named.contains("\r\nX-Evil"))
        #expect(named.contains("name=\"a%22%0D%0AX-Evil: 1\"; filename=\"%22%0D%0A\""))
        let odd = try await sent(Form(body: .multipart([.data("a\0b", Data(), fileName: "\t\u{1F}\u{7F}é")]))).body
        #expect(
            odd.contains("name=\"a%00b\"; filename=\"\t%1F%7Fé\""),
            "the tab is the only control character in a part header")
    }

    @Test("A random boundary occurs in no part that is in memory; a form may be empty")
    func boundary() async throws {
        let parts = (0..<50).map {
            HTTPBody.Part.data("p\($0)", Data((0..<200).map { _ in UInt8.random(in: 48...122) }))
        }
        for _ in 0..<20 {
            let boundary = MultipartBoundary.random(notIn: parts)
            for part in parts { #expect(part.body.data?.range(of: Data(boundary.utf8)) == nil) }
        }
        struct Form: Endpoint {
            let body = HTTPBody.multipart([], boundary: "b")
            var path: EndpointPath { "form" }
            var method: HTTPMethod { .post }
        }
        #expect(try await sent(Form()).body == "--b--\r\n")
    }

    /// One enumeration for ordinary calls and uploads, as in the documentation of RonasIT's library.
    private enum ProfileEndpoint: Endpoint {
        case fetch
        case update(city: String)
        case upload(Data)

        var path: EndpointPath { "profile" }
        var method: HTTPMethod { if case .fetch = self { .get } else { .post } }
        var body: HTTPBody {
            switch self {
            case .fetch: .empty
            case .update(let city): .form(["city": city])
            case .upload(let data):
                .multipart([.data("photo", data, fileName: "photo.jpg"), .field("caption", "me")])
            }
        }
    }

    @Test("One enumeration can have calls without a body, with a form and with an image", .row("R-29", "R-30"))
    func enumeration() async throws {
        let fetch = try await sent(ProfileEndpoint.fetch)
        #expect(fetch.method == .get && fetch.type.isEmpty && fetch.body.isEmpty)
        let update = try await sent(ProfileEndpoint.update(city: "Ulm"))
        #expect(update.type.hasPrefix("application/x-www-form-urlencoded") && update.body == "city=Ulm")
        let upload = try await sent(ProfileEndpoint.upload(Data("jpeg".utf8)))
        let image = try #require(upload.body.range(of: "photo.jpg"))
        let caption = try #require(upload.body.range(of: "name=\"caption\"\r\n\r\nme\r\n"))
        #expect(upload.type.hasPrefix("multipart/form-data") && image.upperBound < caption.lowerBound)
    }

    @Test("Form parameters become fields after the parts of a multipart body; with any other body, they are an error")
    func bodyAndParameters() async throws {
        struct Upload: Endpoint {
            let body: HTTPBody
            var path: EndpointPath { "upload" }
            var method: HTTPMethod { .post }
            var parameters: RequestParameters { .form(["caption": "me"]) }
        }
        let form = try await sent(Upload(body: .multipart([.field("own", 1)], boundary: "b"))).body
        #expect(form.contains("name=\"own\"\r\n\r\n1\r\n--b\r\n"))
        #expect(form.contains("name=\"caption\"\r\n\r\nme\r\n--b--"))
        let error = await Fixture.failure { _ = try await sent(Upload(body: .string("own"))) } as? NetworkError
        #expect(error?.reason?.contains("sets both `body` and parameters") == true)
    }

    @Test("The error of a form field that cannot be encoded names the field and contains the encoder's error")
    func impossibleField() async throws {
        struct Form: Encodable { let ratio: Double }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .text("") }
        }
        for body in [HTTPBody.multipart(fields: Form(ratio: .nan), files: []), .form(.encoded(Form(ratio: .nan)))] {
            let error = await Fixture.failure { try await service.request(.post("x").body(body)) } as? NetworkError
            #expect(error?.kind == .bodyNotEncodable && error?.underlying is EncodingError)
            #expect(error?.reason?.contains("\"ratio\"") == true, "\(error as Any)")
        }
    }
}
