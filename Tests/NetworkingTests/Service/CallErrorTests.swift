import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("Errors of calls", .endsInTime)
struct CallErrorTests {
    private let stub = StubTransport()

    private func service(_ handlers: [any ErrorHandler] = [], settings: RequestSettings = .init()) -> UserService {
        UserService(environment: Fixture.environment) {
            $0.errorMapping = .unmapped
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService(handlers)
            $0.settings = settings
        }
    }

    @Test(
        "A subclass of NetworkService sends requests, and throws the raw error if errors are not mapped", .row("R-01"))
    func rawError() async {
        stub.on(.get, "/v1/users/7", .status(.notFound))
        let error = await Fixture.failure { _ = try await service().user("7") } as? NetworkError
        #expect(error?.kind == .unacceptableStatus)
        #expect(error?.status == .notFound)
        #expect(error?.request?.url.absoluteString == "https://api.example.com/v1/users/7")
    }

    @Test("A decoding error goes through the error handlers, and shows the coding path but not the body", .row("R-11"))
    func decodingError() async {
        stub.on(nil, nil, .json(text: #"{"users":[{"id":1,"secret":"hush"}]}"#))
        let seen = Box<[RequestFailure]>([])
        let handler = AdHocErrorHandler { failure in
            seen.change { $0.append(failure) }
            return .next(failure.error)
        }
        let error = await Fixture.failure {
            let _: [String: [User]] = try await service([handler]).request(UserEndpoint.open)
        }
        #expect(seen.value.count == 1)
        #expect((error as? NetworkError)?.underlying is DecodingError)
        #expect("\(error as Any)".contains("\"users[0].id\": expected String, found a number"))
        #expect(!"\(error as Any)".contains("hush"))
    }

    @Test(
        "By default, statuses 200 to 299 and the media types in Accept are valid; validators replace this rule",
        .row("R-12"))
    func validation() async throws {
        struct Wanting: Endpoint {
            var path: EndpointPath { "open" }
            var headers: HTTPHeaders { [.accept: "application/json"] }
        }
        stub.on(nil, nil, .text("hello"))
        let error = await Fixture.failure { try await service().request(Wanting()) } as? NetworkError
        #expect(error?.kind == .unacceptableMediaType)
        let text: String = try await service().request(UserEndpoint.open)
        #expect(text == "hello")
        stub.on(nil, nil, .text("gone", status: .gone))
        let gone: String = try await service().request(UserEndpoint.open, with: RequestSettings { $0.validators = [] })
        #expect(gone == "gone")
    }

    @Test("A call whose base URL is missing or has an invalid scheme or host ends before sending", .row("R-34"))
    func noBaseURL() async {
        struct Bad: Endpoint {
            let baseURL: URL
            let path: EndpointPath = "x"
        }
        let bare = NetworkService { $0.transport = stub }
        let error = await Fixture.failure { try await bare.request(UserEndpoint.open) } as? NetworkError
        #expect(error?.kind == .invalidRequest)
        #expect(error?.description.contains("base URL") == true)
        for text in ["localhost:8080", "ftp://x", "https:///x"] {
            guard let url = URL(string: text) else { continue }
            let error = await Fixture.failure { try await bare.request(Bad(baseURL: url)) } as? NetworkError
            #expect(error?.kind == .invalidRequest, "\(text)")
        }
        #expect(stub.requests.isEmpty)
    }

    @Test("Without validators, a 503 response is not an error", .row("P-09"))
    func everyStatus() async throws {
        stub.on(nil, nil, .text("no", status: .serviceUnavailable))
        let response = try await service(settings: RequestSettings { $0.validators = [] }).response(
            UserEndpoint.open, as: .string)
        #expect(response.value == "no" && response.http.status.reasonPhrase == "Service Unavailable")
        #expect(response.http.request.method == .get)
    }

    @Test("Request and response can also be read from an error", .row("P-10"))
    func errorKeepsBoth() async {
        stub.on(nil, nil, .text("no", status: .badRequest))
        let error = await Fixture.failure { try await service().request(UserEndpoint.open) } as? NetworkError
        #expect(error?.request?.url.path == "/v1/open")
        #expect(error.map { String(decoding: $0.response?.data ?? Data(), as: UTF8.self) } == "no")
    }

    @Test("No error shows the value that could not be encoded; the error for an invalid port mentions the port")
    func encodedSecret() async {
        struct Secret: Encodable {
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue("hush", .init(codingPath: [], debugDescription: "hush"))
            }
        }
        struct Post: Endpoint {
            var path: EndpointPath { "x" }
            var method: HTTPMethod { .post }
            var body: HTTPBody { .json(Secret()) }
        }
        let error = await Fixture.failure { try await service().request(Post()) } as? NetworkError
        #expect(error?.kind == .bodyNotEncodable && error?.description.contains("hush") == false)
        let far = NetworkService(environment: NetworkEnvironment(baseURL: URL(string: "http://127.0.0.1:99999"))) {
            $0.transport = stub
        }
        let port = await Fixture.failure { try await far.request(UserEndpoint.open) } as? NetworkError
        #expect(port?.kind == .invalidRequest && port?.description.contains("port") == true)
    }

    @Test("A value that cannot be encoded ends the call before sending, with the underlying error")
    func encodingError() async {
        struct Post: Endpoint {
            var path: EndpointPath { "x" }
            var method: HTTPMethod { .post }
            var body: HTTPBody { .json(["x": Double.nan]) }
        }
        let error = await Fixture.failure { try await service().request(Post()) } as? NetworkError
        #expect(error?.kind == .bodyNotEncodable && error?.underlying is EncodingError)
        #expect(stub.requests.isEmpty)
    }
}
