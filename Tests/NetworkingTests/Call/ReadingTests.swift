import Foundation
import Networking
import Testing

@Suite("Validating and reading responses", .endsInTime)
struct ReadingTests {
    private func response(_ body: Data, _ type: String? = nil, _ status: HTTPStatus = .ok) throws -> HTTPResponse {
        let request = HTTPRequest(.get, try #require(URL(string: "https://a.example")))
        return HTTPResponse(status, headers: type.map { [.contentType: $0] } ?? [:], content: .data(body), to: request)
    }

    @Test(
        "Text is read in its charset; text without a charset is read as UTF-8, or as Latin 1 if it is not valid UTF-8",
        .row("R-09"))
    func charsets() async throws {
        let latin = Data([0x67, 0xFC])
        #expect(try await ResponseConverter.string.convert(response(latin, "text/plain; charset=ISO-8859-1")) == "gü")
        #expect(try await ResponseConverter.string.convert(response(latin, "text/plain")) == "gü")
        #expect(try await ResponseConverter.string.convert(response(Data("gü".utf8), "text/plain")) == "gü")
        #expect(try await ResponseConverter.string.convert(response(Data("gü".utf8))) == "gü")
        #expect(
            try await ResponseConverter.string(encoding: .utf16LittleEndian).convert(response(Data([0x41, 0]))) == "A")
    }

    @Test(
        "Text that is invalid in its charset, or that has an unknown charset, is an error", .row("R-09"),
        arguments: ["text/plain; charset=utf-8", "text/plain; charset=klingon", "application/json"])
    func badText(type: String) async throws {
        let response = try response(Data([0xFF, 0xFE, 0x80]), type)
        #expect(
            await #expect(throws: NetworkError.self) { _ = try await ResponseConverter.string.convert(response) }?.kind
                == .undecodableBody)
    }

    @Test("Decoding errors contain the coding path")
    func paths() async throws {
        struct Team: Decodable { let members: [Member] }
        struct Member: Decodable { let name: String, age: Int }
        func words(_ json: String) async throws -> String {
            let response = try response(Data(json.utf8))
            let error = await Fixture.failure { _ = try await ResponseConverter.json(Team.self).convert(response) }
            return (error as? NetworkError)?.reason ?? ""
        }
        #expect(try await words(#"{"members":[{"name":"a"}]}"#) == "\"members[0].age\" is missing (reading Team)")
        #expect(
            try await words(#"{"members":[{"name":1,"age":1}]}"#)
                == "\"members[0].name\": expected String, found a number (reading Team)")
        #expect(
            try await words(#"{"members":[{"name":"a","age":null}]}"#).hasPrefix(
                "\"members[0].age\": expected Int, found null"))
        #expect(try await words("[]") == "the body: expected an object, found an array (reading Team)")
        #expect(try await words("{") == "the body is not JSON (reading Team)")
        #expect(try await words("") == "the body is empty (reading Team)")
    }

    @Test("The value of a converter can be mapped")
    func map() async throws {
        #expect(try await ResponseConverter.string.map { $0.count }.convert(response(Data("four".utf8))) == 4)
        let response = try response(Data("four".utf8))
        await #expect(throws: UserError.taken) {
            _ = try await ResponseConverter.string.map { _ -> Int in throw UserError.taken }.convert(response)
        }
    }

    @Test("Validators run in order; the first rejection ends the call with its reason")
    func validators() async throws {
        struct Picky: NetworkRequesting { let client: NetworkClient }
        let asked = Box<[Int]>([])
        func validator(_ number: Int, _ verdict: ResponseValidator.Verdict) -> ResponseValidator {
            ResponseValidator { _ in
                asked.change { $0.append(number) }
                return verdict
            }
        }
        let picky = Picky(
            client: NetworkClient(environment: Fixture.environment) {
                $0.transport = Answering(body: "x")
                $0.settings = RequestSettings {
                    $0.validators = [
                        validator(1, .valid), validator(2, .invalid("too blue")), validator(3, .valid),
                    ]
                }
            })
        let error = await Fixture.failure { try await picky.request(UserEndpoint.open) } as? NetworkError
        #expect(
            error?.kind == .invalidResponse && error?.description.contains("too blue") == true && error?.status == .ok)
        #expect(asked.value == [1, 2])
    }

    @Test("Statuses and media types are validated by range, by set and by name")
    func ready() async throws {
        struct Plain: NetworkRequesting { let client: NetworkClient }
        let plain = Plain(
            client: NetworkClient(environment: Fixture.environment) { $0.transport = Answering(body: "x") })
        func kind(_ validator: ResponseValidator) async -> NetworkError.Kind? {
            (await Fixture.failure {
                try await plain.request(UserEndpoint.open, with: .init { $0.validators = [validator] })
            }
                as? NetworkError)?.kind
        }
        #expect(await kind(.status(200..<201)) == nil)
        #expect(await kind(.status([.created])) == .unacceptableStatus)
        #expect(await kind(.status([.ok])) == nil)
        #expect(await kind(.mediaType(MediaType("text", "*"))) == nil)
        #expect(await kind(.mediaType(.json, MediaType("image", "*"))) == .unacceptableMediaType)
        #expect(await kind(ResponseValidator { _ in throw UserError.taken }) == nil)
    }

    @Test("Deeply nested JSON causes an error, not a crash")
    func deep() async throws {
        let response = try response(Data(String(repeating: "[", count: 200_000).utf8))
        await #expect(throws: NetworkError.self) { _ = try await ResponseConverter.jsonObject.convert(response) }
    }

    private struct Answering: Transport {
        let body: String

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            HTTPResponse(.ok, headers: [.contentType: "text/plain"], content: .data(Data(body.utf8)), to: request)
        }
    }
}
