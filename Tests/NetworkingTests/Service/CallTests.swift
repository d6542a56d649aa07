import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("Calls")
struct CallTests {
    private let stub = StubTransport()

    private func service(_ handlers: [any ErrorHandler] = [], settings: RequestSettings = .init()) -> UserService {
        UserService(environment: Fixture.environment) {
            $0.errorMapping = .unmapped
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService(handlers)
            $0.settings = settings
        }
    }

    @Test("R-01: a subclass of NetworkService sends requests, and throws the raw error if errors are not mapped")
    func rawError() async {
        stub.on(.get, "/v1/users/7", .status(.notFound))
        let error = await Fixture.failure { _ = try await service().user("7") } as? NetworkError
        #expect(error?.kind == .unacceptableStatus)
        #expect(error?.status == .notFound)
        #expect(error?.request?.url.absoluteString == "https://api.example.com/v1/users/7")
    }

    @Test("R-05: the type of the value decides how the response is read")
    func readings() async throws {
        stub.on(nil, nil, .json(text: #"{"id":"7","n":1,"list":[true,1.5]}"#))
        let endpoint = UserEndpoint.open
        let user: User = try await service().request(endpoint)
        let text: String = try await service().request(endpoint)
        let data: Data = try await service().request(endpoint)
        let object = try await service().request(endpoint, as: .jsonObject)
        try await service().request(endpoint)
        #expect(user == User(id: "7"))
        #expect(text.hasPrefix("{") && data.count == text.utf8.count)
        #expect(object["id"] as? String == "7" && object["n"] as? Int == 1)
        #expect((object["list"] as? [any Sendable])?.first as? Bool == true)
    }

    @Test("R-05, R-08: each type of value is also available with its response")
    func responses() async throws {
        stub.on(nil, nil, StubResponse(.created, headers: ["X-Total": "3"], body: Data(#"{"id":"7"}"#.utf8)))
        let response: Response<User> = try await service().response(UserEndpoint.open)
        let text = try await service().send(UserEndpoint.open, as: .string)
        let nothing = try await service().send(UserEndpoint.open, as: .void)
        #expect(response.value == User(id: "7") && response.status == .created && response.headers["x-total"] == "3")
        #expect(text.value == #"{"id":"7"}"# && text.http.url.path == "/v1/open")
        #expect(nothing.http.status == .created)
    }

    @Test("An empty 200 response is valid for Void, String, Data and optionals, and an error for other values")
    func emptyBody() async throws {
        stub.on(nil, nil, .status(.ok))
        try await service().request(UserEndpoint.open)
        let text: String = try await service().request(UserEndpoint.open)
        let data: Data = try await service().request(UserEndpoint.open)
        let optionalText: String? = try await service().request(UserEndpoint.open)
        let optionalUser: User? = try await service().request(UserEndpoint.open)
        #expect(text.isEmpty && data.isEmpty && optionalText == nil && optionalUser == nil)
        let error = await Fixture.failure { let _: User = try await service().request(UserEndpoint.open) }
        #expect((error as? NetworkError)?.kind == .undecodableBody)
        #expect((error as? NetworkError)?.status == .ok)
    }

    @Test("R-07: a custom converter can read any part of the response, and its error keeps the response")
    func ownConverter() async throws {
        struct NoCount: Error {}
        let count = ResponseConverter<Int> { response in
            guard let count = response.headers["X-Total"].flatMap({ Int($0) }) else { throw NoCount() }
            return count
        }
        stub.on(nil, nil, .status(.ok, headers: ["X-Total": "3"]), .status(.ok))
        #expect(try await service().request(UserEndpoint.open, as: count) == 3)
        let error =
            await Fixture.failure { _ = try await service().request(UserEndpoint.open, as: count) } as? NetworkError
        #expect(error?.kind == .undecodableBody && error?.underlying is NoCount && error?.status == .ok)
    }

    @Test("R-10: an array at the root is an error if a JSON object is expected")
    func jsonArrayRoot() async {
        stub.on(nil, nil, .json(text: "[1]"))
        let error = await Fixture.failure { _ = try await service().request(UserEndpoint.open, as: .jsonObject) }
        #expect((error as? NetworkError)?.description.contains("root is not an object") == true)
    }

    @Test("R-11: a decoding error goes through the error handlers, and shows its path and not the body")
    func decodingError() async {
        stub.on(nil, nil, .json(text: #"{"users":[{"id":1,"secret":"hush"}]}"#))
        let seen = Box<[RequestFailure]>([])
        let handler = ClosureErrorHandler { failure in
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

    @Test("R-12: by default 200 to 299 and a media type in the call's Accept are valid; validators replace this")
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
        let gone: String = try await service().request(UserEndpoint.open, with: RequestSettings(validators: []))
        #expect(gone == "gone")
    }

    @Test("R-13: callbacks run on the chosen queue, and decoding does not")
    func callbackQueue() async {
        let key = DispatchSpecificKey<String>()
        let queue = DispatchQueue(label: "callbacks")
        queue.setSpecific(key: key, value: "callbacks")
        stub.on(nil, nil, .text("hello"))
        let decodedOn = Box<String?>("nowhere")
        let converter = ResponseConverter<String> { _ in
            decodedOn.change { $0 = DispatchQueue.getSpecific(key: key) }
            return "read"
        }
        let calledOn = await withCheckedContinuation { continuation in
            service().task(UserEndpoint.open, as: converter).onCompletion(on: queue) { _ in
                continuation.resume(returning: DispatchQueue.getSpecific(key: key))
            }
        }
        #expect(calledOn == "callbacks")
        #expect(decodedOn.value == nil)
    }

    @Test("R-05: the type of the success closure decides how the response is read, and one closure is called once")
    @MainActor
    func callbackForms() async {
        stub.on(nil, "/v1/open", .json(text: #"{"id":"7"}"#))
        stub.on(nil, "/v1/users/7", .status(.notFound))
        let service = service()
        let user = await withCheckedContinuation { continuation in
            service.request(
                for: UserEndpoint.open, success: { (user: User) in continuation.resume(returning: user.id) },
                failure: { continuation.resume(returning: "\($0)") })
        }
        let response = await withCheckedContinuation { continuation in
            service.request(
                for: UserEndpoint.open,
                success: { (response: Response<User>) in continuation.resume(returning: "\(response.status.code)") },
                failure: { continuation.resume(returning: "\($0)") })
        }
        let nothing = await withCheckedContinuation { continuation in
            service.request(
                for: UserEndpoint.fetch(id: "7"), success: { continuation.resume(returning: "success") },
                failure: { continuation.resume(returning: "\(($0 as? NetworkError)?.kind as Any)") })
        }
        #expect(user == "7" && response == "200" && nothing.contains("unacceptableStatus"))
    }

    @Test("R-33: a call completes even if its service has been released")
    func releasedService() async throws {
        let manual = ManualTransport()
        var service: UserService? = UserService(environment: Fixture.environment) { $0.transport = manual }
        weak let released = service
        let task = service?.task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        service = nil
        #expect(released == nil)
        manual.answer(.ok, "hello")
        let value = try await task?.value
        #expect(value == "hello")
    }

    @Test("I-14: a task starts at once, even without callbacks; callbacks that are added late get the response")
    func eager() async throws {
        let manual = ManualTransport()
        let service = UserService(environment: Fixture.environment) {
            $0.transport = manual
        }
        let task = service.task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        guard case .running = task.state else { throw UserError.cloudy }
        manual.answer(.ok, "hello")
        #expect(try await task.value == "hello")
        guard case .completed = task.state else { throw UserError.cloudy }
        let late = await withCheckedContinuation { continuation in
            task.onSuccess(on: .global()) { continuation.resume(returning: $0) }
        }
        #expect(late == "hello")
    }

    @Test("R-34, U4: a call without a base URL, or with an invalid scheme or host in it, ends before sending")
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

    @Test("P-09: without validators a 503 is a response like any other")
    func everyStatus() async throws {
        stub.on(nil, nil, .text("no", status: .serviceUnavailable))
        let response = try await service(settings: RequestSettings(validators: [])).send(UserEndpoint.open, as: .string)
        #expect(response.value == "no" && response.status.reasonPhrase == "Service Unavailable")
        #expect(response.http.request.method == .get)
    }

    @Test("P-10: request and response can also be read from an error")
    func errorKeepsBoth() async {
        stub.on(nil, nil, .text("no", status: .badRequest))
        let error = await Fixture.failure { try await service().request(UserEndpoint.open) } as? NetworkError
        #expect(error?.request?.url.path == "/v1/open")
        #expect(error.map { String(decoding: $0.response?.data ?? Data(), as: UTF8.self) } == "no")
    }

    @Test("P-14, I-02: any transport can be used, and decorators can wrap it")
    func decorators() async throws {
        stub.on(nil, nil, .text("hello"))
        let recording = RecordingTransport(stub)
        let service = UserService(environment: Fixture.environment) { $0.transport = recording }
        let text: String = try await service.request(UserEndpoint.open)
        #expect(text == "hello")
        #expect(recording.exchanges.map(\.request.url.path) == ["/v1/open"])
    }

    @Test("N-43: a subclass can have its own stored properties")
    func storingSubclass() async throws {
        final class Tenants: NetworkService, @unchecked Sendable {
            let tenant: String
            init(_ tenant: String, _ session: AccessTokenSupervisor, _ transport: any Transport) {
                self.tenant = tenant
                super.init(
                    client: NetworkClient(environment: Fixture.environment, authorizedBy: session) {
                        $0.transport = transport
                    }
                )
            }
        }
        stub.on(nil, nil, .text("hello"))
        let session = AccessTokenSupervisor(token: AccessToken("x"), clock: Fixture.stillClock) { _ in
            throw AccessToken.Rejected()
        }
        #expect(try await Tenants("acme", session, stub).request(UserEndpoint.fetch(id: "7"), as: .string) == "hello")
        #expect(stub.requests.first?.headers[.authorization] == "Bearer x")
    }

    @Test("No error shows the value that could not be encoded; the error of an invalid port says so")
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

    @Test("A struct can also send requests")
    func requestingStruct() async throws {
        struct Weather: NetworkRequesting {
            let client: NetworkClient
        }
        stub.on(nil, nil, .text("sunny"))
        let weather = Weather(client: NetworkClient(environment: Fixture.environment) { $0.transport = stub })
        #expect(try await weather.request(UserEndpoint.open, as: .string) == "sunny")
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
