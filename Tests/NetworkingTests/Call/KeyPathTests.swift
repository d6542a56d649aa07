import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Key paths", .endsInTime)
struct KeyPathTests {
    private struct Item: Codable, Equatable, Sendable { let n: Int }

    private func response(_ text: String) throws -> HTTPResponse {
        HTTPResponse(
            .ok, headers: [.contentType: "application/json"], content: .data(Data(text.utf8)),
            to: HTTPRequest(.get, try #require(URL(string: "https://a.example"))))
    }

    @Test("A key path selects a member, even in an array; the error names the missing member", .row("N-30"))
    func keyPath() async throws {
        let response = try response(#"{"data":{"users":[{"n":1},{"n":2}],"a.b":{"n":3}}}"#)
        #expect(try response.read(as: .keyPath("data.users", .json([Item].self))) == [Item(n: 1), Item(n: 2)])
        #expect(try response.read(as: .keyPath("data.users.1", .json(Item.self))) == Item(n: 2))
        #expect(try response.read(as: .keyPath(["data", "a.b"], .json(Item.self))) == Item(n: 3))
        #expect(try response.read(as: .keyPath("data", .keyPath("users.0.n", .json(Int.self)))) == 1)
        let number = ResponseConverter.json(Item.self).map(\.n)
        #expect(try response.read(as: .keyPath("data.users.0", number)) == 1)
        #expect(try response.read(as: .keyPath("data.users.0", .automatic() as ResponseConverter<Item>)) == Item(n: 1))
        for (path, words) in [
            ("data.nobody", "\"data.nobody\" is missing"), ("data.users.7.n", "\"data.users[7]\" is missing"),
            ("data.users.x", "\"data.users\": expected an object, found an array"),
            ("data.users.0.n.x", "\"data.users[0].n\": expected an object, found a number"),
        ] as [(JSONValue.Path, String)] {
            let error = #expect(throws: NetworkError.self) { try response.read(as: .keyPath(path, .json(Int.self))) }
            #expect(error?.reason == "\(words) (reading Int)")
        }
    }

    @Test("A key path keeps the decoder's settings; a converter that does not read JSON gets the JSON of the member")
    func keyPathSettings() throws {
        struct Dated: Decodable { let madeAt: Date }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .secondsSince1970
        let response = try response(#"{"a":{"made_at":7,"b":"x"}}"#)
        #expect(
            try response.read(as: .keyPath("a", .json(Dated.self, decoder: decoder))).madeAt
                == Date(timeIntervalSince1970: 7))
        #expect(
            try response.read(as: .keyPath("a.madeAt", .json(Date.self, decoder: decoder)))
                == Date(timeIntervalSince1970: 7))
        #expect(try response.read(as: .keyPath("a.b", .data)) == Data(#""x""#.utf8))
    }

    @Test("A key path inside a key path is one path, whose names are those after the decoder's key conversion")
    func nested() throws {
        let response = try response(#"{"all_users":[{"n":1},{"n":2}]}"#)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let second = ResponseConverter.keyPath("1", .keyPath("n", .json(Int.self, decoder: decoder)))
        #expect(try response.read(as: .keyPath("allUsers", second)) == 2)
        let error = #expect(throws: NetworkError.self) { try response.read(as: .keyPath("others", second)) }
        #expect(error?.reason == "\"others\" is missing (reading Int)")
    }

    @Test("In a nested key path, a default value and `optional` also apply to what is outside of the inner path")
    func nestedDefaults() throws {
        let inner = ResponseConverter.keyPath("b", .keyPath("c", .json(Int.self))).replacingErrors(with: 9)
        #expect(try response(#"{"a":{"b":{"c":1}}}"#).read(as: .keyPath("a", inner)) == 1)
        #expect(try response(#"{"a":1}"#).read(as: .keyPath("a", inner)) == 9)
        #expect(try response("").read(as: .keyPath("a", inner)) == 9)
        let optional = ResponseConverter.optional(.keyPath("b", .json(Int.self)))
        #expect(try response(#"{"a":{"b":1}}"#).read(as: .keyPath("a", optional)) == 1)
        #expect(try response("").read(as: .keyPath("a", optional)) == nil)
    }

    @Test("A key path keeps the header fields of its converter, and requests JSON if the converter requests no type")
    func headers() throws {
        let own = ResponseConverter.json(Int.self).defaultHeaders([.accept: "application/vnd.api+json"])
        for (converter, accept) in [
            (.keyPath("a", .keyPath("b", own)), "application/vnd.api+json"),
            (.keyPath("a", .keyPath("b", .automatic())), "application/json"),
        ] as [(ResponseConverter<Int>, String)] {
            var request = HTTPRequest(.get, try #require(URL(string: "https://a.example")))
            converter.requirements.applyHeaders(to: &request, decoder: JSONDecoder())
            #expect(request.headers[.accept] == accept)
        }
    }

    @Test("A streamed body cannot be read with a key path, and the error says so")
    func pulledKeyPath() async throws {
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .json(text: "{}") }
        }
        let error = await Fixture.failure { _ = try await service.request(.get("x"), as: .keyPath("a", .lines)) }
        #expect((error as? NetworkError)?.description.contains("reads a stream") == true)
    }

    @Test("A converter to String reads a string inside JSON without its quotation marks")
    func textsInside() throws {
        let request = HTTPRequest(.get, try #require(URL(string: "https://a.example")))
        let response = HTTPResponse(
            .ok, headers: [.contentType: "application/json"], content: .data(Data(#"{"name":"Ada","no":null}"#.utf8)),
            to: request)
        #expect(try response.read(as: .keyPath("name", .automatic() as ResponseConverter<String>)) == "Ada")
        #expect(try response.read(as: .keyPath("name", .optional(.string))) == "Ada")
        #expect(try response.read(as: .keyPath("name", .automatic() as ResponseConverter<String?>)) == "Ada")
        #expect(try response.read(as: .keyPath("no", .automatic() as ResponseConverter<String?>)) == nil)
        #expect(try response.read(as: .keyPath("name", .data)) == Data(#""Ada""#.utf8))
        for converter in [.keyPath("name", .automatic()), .keyPath("name", .string)] as [ResponseConverter<String>] {
            var asked = request
            converter.requirements.applyHeaders(to: &asked, decoder: JSONDecoder())
            #expect(asked.headers[.accept] == "application/json")
        }
    }
}
