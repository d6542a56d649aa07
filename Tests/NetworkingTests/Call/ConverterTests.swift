import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Converters", .endsInTime)
struct ConverterTests {
    private struct Item: Codable, Equatable, Sendable { let n: Int }

    private func response(_ text: String, _ type: String? = "application/json") throws -> HTTPResponse {
        try response(Data(text.utf8), type)
    }

    private func response(_ data: Data, _ type: String? = "application/json") throws -> HTTPResponse {
        HTTPResponse(
            .ok, headers: type.map { [.contentType: $0] } ?? [:], content: .data(data),
            to: HTTPRequest(.get, try #require(URL(string: "https://a.example"))))
    }

    @Test(
        "A closure can transform the JSON; a closure that returns nil causes an error; server errors have a converter",
        .row("N-29", "N-31"))
    func transforming() async throws {
        let wrap = ResponseConverter.transformingJSON({ ["n": $0["m"] ?? .null] }, .json(Item.self))
        #expect(try response(#"{"m":4}"#).read(as: wrap) == Item(n: 4))
        let none = ResponseConverter.transformingJSON({ _ in nil }, .json(Item.self))
        let error = #expect(throws: NetworkError.self) { try response("{}").read(as: none) }
        #expect(error?.reason?.contains("returned nil") == true)
        struct Refused: Decodable { let why: String }
        struct Get: TypedEndpoint {
            typealias ResponseValue = Item
            typealias ServerError = Refused
            var path: EndpointPath { "x" }
            func converter(decoder: any BodyDecoder) -> ResponseConverter<Item> {
                .keyPath("data", .json(decoder: decoder))
            }
            func errorConverter(decoder: any BodyDecoder) -> ResponseConverter<Refused> {
                .keyPath("error", .json(decoder: decoder))
            }
        }
        let stub = StubTransport()
        stub.on(nil, nil, .json(text: #"{"data":{"n":1}}"#), .json(text: #"{"error":{"why":"no"}}"#, status: .conflict))
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        #expect(try await service.request(Get()) == Item(n: 1))
        let failure = await Fixture.failure { try await service.request(Get()) } as? ServerFailure<Refused>
        #expect(failure?.serverError.why == "no")
    }

    @Test("A converter without its own decoder uses the call's decoder; if the type is optional, null is read as nil")
    func callsDecoder() async throws {
        struct Snake: Decodable, Equatable { let userName: String }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let stub = StubTransport { _ in .json(text: #"[{"user_name":"a"}]"#) }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.settings = RequestSettings { $0.decoder = decoder }
        }
        let wanted = [Snake(userName: "a")]
        #expect(try await service.request(.get("x"), as: .json([Snake].self)) == wanted)
        #expect(try await service.request(.get("x"), as: .tolerantArray(Snake.self)) == wanted)
        #expect(try await service.request(.get("x"), as: .keyPath("0.userName", .string)) == "a")
        #expect(try await service.task(.get("x"), as: .json([Snake].self)).value == wanted)
        let error = await Fixture.failure {
            _ = try await service.request(.get("x"), as: .json([Snake].self, decoder: JSONDecoder()))
        }
        #expect((error as? NetworkError)?.kind == .undecodableBody)
        let null = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .json(text: "null") }
        }
        let none: Snake? = try await null.request(.get("x"))
        #expect(none == nil)
    }

    @Test("`replacingErrors(with:)` returns its default value; a tolerant array omits invalid elements")
    func tolerant() throws {
        #expect(try response("{").read(as: .json(Item.self).replacingErrors(with: Item(n: 0))) == Item(n: 0))
        #expect(try response(#"{"a":1}"#).read(as: .keyPath("b", .json(Int.self).replacingErrors(with: 9))) == 9)
        let mixed = try response(#"[{"n":1},{"n":"x"},null,7,{"n":2}]"#)
        #expect(try mixed.read(as: .tolerantArray(Item.self)) == [Item(n: 1), Item(n: 2)])
        #expect(throws: NetworkError.self) { try response("{}").read(as: .tolerantArray(Item.self)) }
    }

    @Test(
        "A response can be read as text, a JSON object, a JSON array or decoded values; a wrong root type is an error",
        .row("I-29"))
    func reading() throws {
        let object = try response(#"{"a":1,"b":null,"c":[1,null,"x"]}"#)
        let members = try object.read(as: .jsonObject)
        #expect(members["a"] as? Int == 1 && members["b"] == nil)
        #expect((members["c"] as? [any Sendable])?.count == 3, "null keeps its position in an array")
        #expect(try response("[1,2]").read(as: .jsonArray).compactMap { $0 as? Int } == [1, 2])
        #expect(try object.read(as: .string).hasPrefix("{"))
        #expect(try response("[{\"n\":1}]").read(as: .json([Item].self)) == [Item(n: 1)])
        for text in ["[1]", "7", ""] {
            #expect(throws: NetworkError.self) { try response(text).read(as: .jsonObject) }
        }
        #expect(throws: NetworkError.self) { try object.read(as: .jsonArray) }
        #expect(throws: NetworkError.self) { try object.read(as: .stream) }
    }

    @Test(
        "A custom converter is a closure that gets the response, the text, or each element of a JSON array",
        .row("I-30", "I-31"))
    func ownDecoders() throws {
        let count = ResponseConverter<Int> { $0.data.count }
        #expect(try response("abc").read(as: count) == 3)
        let afterText = ResponseConverter.string.map { $0.split(separator: ",").count }
        #expect(try response("a,b", "text/plain").read(as: afterText) == 2)
        @Sendable func single(_ value: any Sendable) throws -> Int {
            guard let value = value as? Int else { throw UserError.taken }
            return value * 2
        }
        let each = ResponseConverter.jsonArray.map { try $0.map(single) }
        #expect(try response("[1,2]").read(as: each) == [2, 4])
        #expect(throws: UserError.taken) { try response("[1,\"x\"]").read(as: each) }
    }

    @Test(
        "A decoding error names the path and the mismatch, keeps the underlying error, and shows no value",
        .row("N-26", "R-35")
    )
    func decodingErrors() throws {
        struct Deep: Decodable { let list: [Item] }
        for (text, words) in [
            (#"{"list":[{"n":1},{}]}"#, "\"list[1].n\" is missing"),
            (#"{"list":[{"n":"secret"}]}"#, "\"list[0].n\": expected Int, found a string"),
            (#"{"list":[{"n":null}]}"#, "\"list[0].n\": expected Int, found null"),
            (#"{"list":7}"#, "\"list\": expected an array, found a number"),
            ("<html>", "the body is not JSON"),
        ] {
            let error = #expect(throws: NetworkError.self) { try response(text).read(as: .json(Deep.self)) }
            #expect(error?.reason?.hasPrefix(words) == true, "\(error?.reason ?? "")")
            #expect(error?.underlying is DecodingError)
            #expect(error?.description.contains("secret") == false)
        }
    }

    @Test("Accept defaults to the converter's media type; the response's type is checked only if the call sets Accept")
    func accept() async throws {
        let stub = StubTransport { _ in
            StubResponse(.ok, headers: [.contentType: "text/plain"], body: Data(#"{"id":"7"}"#.utf8))
        }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let user: User = try await service.request(.get("x"))
        #expect(user == User(id: "7"))
        let _: String = try await service.request(.get("x"))
        #expect(stub.requests.map { $0.headers[.accept] } == ["application/json", nil])
        let error = await Fixture.failure {
            let _: User = try await service.request(.get("x").header(.accept, "application/json"))
        }
        #expect((error as? NetworkError)?.kind == .unacceptableMediaType)
        let own = ResponseConverter<Int> { $0.data.count }.defaultHeaders([.accept: "image/png", "X-Version": "2"])
        _ = try await service.request(.get("x").header("X-Version", "1"), as: own)
        #expect(stub.requests[3].headers[.accept] == "image/png" && stub.requests[3].headers["X-Version"] == "1")
    }

    @Test("Malformed, deeply nested and very long JSON bodies cause errors in bounded time")
    func hostile() throws {
        let bodies = [
            Data(repeating: UInt8(ascii: "["), count: 100 << 20),
            Data((String(repeating: #"{"a":"#, count: 100_000) + "1").utf8),
            Data("[1e999999,-1e999999]".utf8), Data(("[" + String(repeating: "9", count: 1_000_000) + "]").utf8),
            Data([0x22, 0xFF, 0xFE, 0x22]), Data([0xEF, 0xBB, 0xBF]) + Data("[".utf8), Data([0xFF, 0xFE, 0x5B, 0x00]),
            Data("\"\\ud800\"".utf8), Data([0]), Data("nul".utf8),
        ]
        let start = ContinuousClock.now
        for body in bodies {
            let response = try response(body)
            #expect(throws: NetworkError.self) { try response.read(as: .json([Int].self)) }
            #expect(throws: NetworkError.self) { try response.read(as: .keyPath("a.a.a", .json(Int.self))) }
            #expect(throws: NetworkError.self) { try response.read(as: .jsonObject) }
            #expect(response.problem == nil)
        }
        #expect(ContinuousClock.now - start < .seconds(50))
    }
}
