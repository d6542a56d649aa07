import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("Formats other than Foundation's JSON", .endsInTime)
struct BodyCodingTests {
    private struct Item: Codable, Equatable {
        let id: Int
    }

    /// Numbers as text: `id 7`.
    private struct LineFormat: BodyDecoder, BodyEncoder {
        struct Malformed: Error {}

        var mediaType = MediaType("application", "x-line")

        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            let parts = String(decoding: data, as: UTF8.self).split(separator: " ")
            guard parts.count == 2 else { throw Malformed() }
            return try JSONDecoder().decode(type, from: Data("{\"\(parts[0])\": \(parts[1])}".utf8))
        }

        func encode<Value: Encodable>(_ value: Value) throws -> Data {
            let text = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
            guard text.hasPrefix("{") else { throw Malformed() }
            return Data(text.filter { !"{}\"".contains($0) }.replacing(":", with: " ").utf8)
        }
    }

    /// An own decoder of JSON.
    private struct OwnJSON: BodyDecoder {
        let mediaType = MediaType.json
        let count = Box(0)

        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            count.change { $0 += 1 }
            return try JSONDecoder().decode(type, from: data)
        }
    }

    private let stub = StubTransport()

    private func service(
        _ responses: StubResponse..., configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        let left = Box(responses)
        stub.on(nil, nil) { _ in
            defer { left.change { if $0.count > 1 { $0.removeFirst() } } }
            return left.value[0]
        }
        return NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            ($0.settings.decoder, $0.settings.encoder) = (LineFormat(), LineFormat())
            configure(&$0)
        }
    }

    private func line(_ text: String, _ status: HTTPStatus = .ok) -> StubResponse {
        StubResponse(status, headers: [.contentType: "application/x-line"], body: Data(text.utf8))
    }

    @Test("A value is sent and read in the format of the service, which both header fields name")
    func format() async throws {
        let item: Item = try await service(line("id 8")).request(.post("items").body(.encoded(Item(id: 7))))
        #expect(item == Item(id: 8))
        let request = try #require(stub.requests.first)
        #expect(request.headers[.accept] == "application/x-line")
        #expect(request.allHeaders[.contentType] == "application/x-line")
        #expect(request.body.data == Data("id 7".utf8))
    }

    @Test("A format is also the one of typed endpoints and of server errors")
    func typed() async throws {
        struct Get: TypedEndpoint {
            typealias ResponseValue = Item
            typealias ServerError = Item
            let path: EndpointPath = "items"
        }
        let service = service(line("id 8"), line("id 9", .conflict), line("id 10", .conflict)) {
            $0.serverError = Item.self
        }
        #expect(try await service.request(Get()) == Item(id: 8))
        #expect(stub.requests.first?.headers[.accept] == "application/x-line")
        let failure = await #expect(throws: ServerFailure<Item>.self) { try await service.request(Get()) }
        #expect(failure?.serverError == Item(id: 9))
        let other = await #expect(throws: ServerFailure<Item>.self) { try await service.request(.get("x"), as: .void) }
        #expect(other?.serverError == Item(id: 10))
    }

    @Test("What names JSON stays JSON in a service with another format")
    func json() async throws {
        let service = service(.json(text: #"{"id":8}"#))
        let item = try await service.request(.post("items").body(.json(Item(id: 7))), as: .json(Item.self))
        #expect(item == Item(id: 8))
        let request = try #require(stub.requests.first)
        #expect(request.headers[.accept] == "application/json")
        #expect(request.allHeaders[.contentType] == "application/json")
        #expect(request.body.data == Data(#"{"id":7}"#.utf8))
    }

    @Test("A decoder or an encoder of another format is refused where JSON is named")
    func otherFormat() async throws {
        let service = service(line("id 8"))
        let error = await #expect(throws: NetworkError.self) {
            try await service.request(.get("x"), as: .json(Item.self, decoder: LineFormat()))
        }
        #expect(
            error?.reason?.hasPrefix(
                "expected a decoder that reads JSON, found a decoder that reads application/x-line") == true)
        let sent = stub.requests.count
        let body = HTTPBody.json(Item(id: 7), encoder: LineFormat())
        let other = await #expect(throws: NetworkError.self) { try await service.request(.post("x").body(body)) }
        #expect(other?.kind == .bodyNotEncodable && stub.requests.count == sent)
    }

    @Test("The error of an own decoder is the underlying error, and the text names its format")
    func malformed() async throws {
        let service = service(line("nonsense"))
        let error = await #expect(throws: NetworkError.self) {
            let _: Item = try await service.request(.get("items"))
        }
        #expect(error?.kind == .undecodableBody)
        #expect(error?.underlying is LineFormat.Malformed)
        #expect(error?.reason == "the body cannot be decoded as application/x-line: Malformed (reading Item)")
    }

    @Test("The error of an own encoder is the underlying error, and nothing is sent")
    func notEncodable() async throws {
        let service = service(line("id 8"))
        let error = await #expect(throws: NetworkError.self) {
            try await service.request(.post("items").body(.encoded([1])), as: .void)
        }
        #expect(error?.kind == .bodyNotEncodable)
        #expect(error?.underlying is LineFormat.Malformed)
        #expect(stub.requests.isEmpty)
    }

    @Test("A path in a body that is not JSON is a clear error")
    func path() async throws {
        let service = service(line("id 8"))
        let error = await #expect(throws: NetworkError.self) {
            try await service.request(.get("items"), as: .keyPath("id", .automatic()) as ResponseConverter<Int>)
        }
        #expect(
            error?.reason?.contains(
                "a value at a path can be read only from JSON, but the decoder reads application/x-line") == true)
    }

    @Test("White space is content in a format that is not JSON, and no body is nil for an optional")
    func blank() async throws {
        let service = service(line(" "), line(""))
        let error = await #expect(throws: NetworkError.self) {
            let _: Item? = try await service.request(.get("items"))
        }
        #expect(error?.underlying is LineFormat.Malformed)
        let none: Item? = try await service.request(.get("items"))
        #expect(none == nil)
        #expect(stub.requests.allSatisfy { $0.headers[.accept] == "application/x-line" })
    }

    @Test("An own decoder of JSON reads all JSON, also at a path, in lines and arrays")
    func ownJSON() async throws {
        let own = OwnJSON()
        let service = service(.json(text: #"{"items":[{"id":7}]}"#)) { $0.settings.decoder = own }
        let all: [String: [Item]] = try await service.request(.get("items"))
        #expect(all["items"] == [Item(id: 7)])
        #expect(try await service.request(.get("items"), as: .json([String: [Item]].self)) == all)
        #expect(try await service.request(.get("items"), as: .keyPath("items.0", .json(Item.self))) == Item(id: 7))
        #expect(own.count.value == 3)
        #expect(stub.requests.allSatisfy { $0.headers[.accept] == "application/json" })
        let located: Item = try await service.request(.get("items"), as: .keyPath("items.0", .automatic()))
        #expect(located == Item(id: 7))
        let error = await #expect(throws: NetworkError.self) {
            try await service.request(.get("items"), as: .keyPath("items.1", .json(Item.self)))
        }
        #expect(error?.reason == "\"items.1\" is missing (reading Item)")
    }

    @Test("A part of a form in the format of the service is labelled with its media type")
    func part() async throws {
        let form = HTTPBody.multipart([HTTPBody.Part("item", body: .encoded(Item(id: 7)))])
        try await service(line("id 8")).request(.post("items").body(form), as: .void)
        let body = try await #require(stub.requests.first).body.collected()
        let text = String(decoding: try #require(body.data), as: UTF8.self)
        #expect(text.contains("name=\"item\"\r\nContent-Type: application/x-line\r\n\r\nid 7\r\n"))
    }
}
