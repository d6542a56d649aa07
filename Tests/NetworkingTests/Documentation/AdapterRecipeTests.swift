// Runs, unchanged, the Swift blocks about adapters and bodies from Recipes.md.
// `DocumentationTests` compares them with the articles.

import Foundation
import Networking
import NetworkingTesting
import Testing

// snippet.snakeCase
func makeSnakeCaseService(_ api: NetworkEnvironment) -> NetworkService {
    NetworkService(environment: api) {
        $0.settings.decoder = .json {
            $0.keyDecodingStrategy = .convertFromSnakeCase
            $0.dateDecodingStrategy = .iso8601
        }
        $0.settings.encoder = .json {
            $0.keyEncodingStrategy = .convertToSnakeCase
            $0.dateEncodingStrategy = .iso8601
        }
    }
}
// snippet.end

// snippet.languageModel
struct Delta: Decodable, Sendable {
    let text: String
}

struct ModelError: Error, Decodable {
    let message: String
}

func answer(
    _ question: String, with service: NetworkService, show: (String) -> Void
) async throws {
    let call = AdHocEndpoint(.post, "completions").body(
        .jsonObject(["prompt": question, "stream": true])
    )
    .settings { $0.timeouts.idle = .seconds(90) }  // without any byte
    let deltas = try await service.request(
        call,
        as: .events(
            Delta.self, endingWith: "[DONE]",
            failingOn: .type("error", as: ModelError.self)))
    // A model may think for 90 s, but does not pause for 20 s in a sentence.
    for try await delta in deltas.timingOut(
        first: .seconds(90), between: .seconds(20))
    {
        show(delta.text)
    }
}
// snippet.end

// snippet.language
/// Adapters run for each attempt, so the value may change at any time.
struct LanguageAdapter: SynchronousRequestAdapter {
    let language: @Sendable () -> String

    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        request.headers[.acceptLanguage] = language()
    }
}
// snippet.end

// snippet.signature
struct SignatureAdapter: RequestAdapter {
    let sign: @Sendable (_ line: String, Data, HTTPHeaders) -> String

    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint)
        async throws
    {
        // This also reads the parts of a multipart form.
        request.body = try await request.body.collected(upTo: 1 << 20)
        // `headers` has the fields that were set; `allHeaders` also has those
        // of the body, such as `Content-Type`.
        request.headers["X-Signature"] = sign(
            "\(request.method) \(request.target)",
            request.body.data ?? Data(), request.allHeaders)
    }
}
// snippet.end

// snippet.links
func allIssues(_ service: NetworkService) async throws -> [String] {
    var issues: [String] = []
    // Link: <https://…?page=2>; rel="next"
    let pages = service.pages(
        .get("issues").query("per_page", 100), as: .json([String].self))
    for try await page in pages { issues += page }
    return issues
}
// snippet.end

@Suite("Recipes for adapters and bodies", .endsInTime)
struct AdapterRecipeTests {
    private let stub = StubTransport()
    private var api: NetworkEnvironment { Fixture.environment }

    private func service(_ adapters: any RequestAdapter...) -> NetworkService {
        NetworkService(environment: api) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService(adapters)
        }
    }

    @Test("A service reads and writes names in snake case")
    func snakeCase() async throws {
        struct Token: Codable, Equatable {
            var expiresIn: Int
        }
        stub.on(nil, nil, .json(text: #"{"expires_in":7}"#))
        let service = NetworkService(client: makeSnakeCaseService(api).client.with { $0.transport = stub })
        let token: Token = try await service.request(.post("token").body(.json(Token(expiresIn: 1))))
        #expect(token == Token(expiresIn: 7))
        #expect(stub.requests.first?.body.data == Data(#"{"expires_in":1}"#.utf8))
    }

    @Test("The response of a language model is read as it arrives, and is requested only once")
    func languageModel() async throws {
        let events = "data: {\"text\":\"Forty\"}\n\ndata: {\"text\":\"-two\"}\n\ndata: [DONE]\n\n"
        stub.on(
            nil, nil, StubResponse(.ok, headers: [.contentType: "text/event-stream"], body: Data(events.utf8)))
        var words: [String] = []
        try await answer("What is six times seven?", with: service()) { words.append($0) }
        #expect(words == ["Forty", "-two"] && stub.requests.count == 1)
        let failing = "data: {\"text\":\"Forty\"}\n\nevent: error\ndata: {\"message\":\"overloaded\"}\n\n"
        stub.on(
            nil, nil, StubResponse(.ok, headers: [.contentType: "text/event-stream"], body: Data(failing.utf8)))
        let error = await Fixture.failure { try await answer("And seven times six?", with: service()) { _ in } }
        #expect((error as? ModelError)?.message == "overloaded")
    }

    @Test("Adapters can set headers that change, and can sign the body that is sent")
    func adapters() async throws {
        stub.on(nil, nil, .status(.ok))
        let language = Box("de")
        let signing = SignatureAdapter { line, data, headers in
            "\(line): \(data.count) of \(headers.contentType?.subtype ?? "nothing")"
        }
        let service = service(LanguageAdapter { language.value }, signing)
        try await service.request(.post("a").body(.multipart([.field("a", 1)], boundary: "b")))
        language.change { $0 = "fr" }
        try await service.request(.get("a"))
        #expect(stub.requests.map { $0.headers[.acceptLanguage] } == ["de", "fr"])
        let count = try #require(stub.requests[0].body.data).count
        #expect(stub.requests[0].headers["X-Signature"] == "POST /v1/a: \(count) of form-data")
    }

    @Test("All pages are loaded by following their links")
    func links() async throws {
        stub.on(.get, nil) { request in
            let isFirst = request.url.query?.contains("per_page") == true
            let next: HTTPHeaders = isFirst ? ["Link": "</v1/issues?page=2>; rel=next"] : []
            return StubResponse(.ok, headers: next, body: Data((isFirst ? #"["a"]"# : #"["b"]"#).utf8))
        }
        #expect(try await allIssues(service()) == ["a", "b"])
    }

    @Test("A request is built and not sent")
    func unsent() async throws {
        let service = service()
        // snippet.unsent
        let request = try await service.httpRequest(
            for: AccountEndpoint.profile, as: .json(JSONValue.self))
        // curl --header 'Accept: application/json' … https://api.example.com/…
        print(request.curlCommand())
        // snippet.end
        #expect(request.headers[.accept] == "application/json" && stub.requests.isEmpty)
    }
}
