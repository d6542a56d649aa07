import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("Calls", .endsInTime)
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

    @Test("The type of the value decides how the response is read", .row("R-05"))
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

    @Test("Each type of value is also available with its response", .row("R-05", "R-08"))
    func responses() async throws {
        stub.on(nil, nil, StubResponse(.created, headers: ["X-Total": "3"], body: Data(#"{"id":"7"}"#.utf8)))
        let response: Response<User> = try await service().response(UserEndpoint.open)
        let text = try await service().response(UserEndpoint.open, as: .string)
        let nothing = try await service().response(UserEndpoint.open, as: .void)
        #expect(
            response.value == User(id: "7") && response.http.status == .created
                && response.http.headers["x-total"] == "3")
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

    @Test("A custom converter can read any part of the response, and its error is the error of the call", .row("R-07"))
    func ownConverter() async throws {
        struct NoCount: Error {}
        let count = ResponseConverter<Int> { response in
            guard let count = response.headers["X-Total"].flatMap({ Int($0) }) else { throw NoCount() }
            return count
        }
        stub.on(nil, nil, .status(.ok, headers: ["X-Total": "3"]), .status(.ok))
        #expect(try await service().request(UserEndpoint.open, as: count) == 3)
        let error = await Fixture.failure { _ = try await service().request(UserEndpoint.open, as: count) }
        #expect(error is NoCount)
    }

    @Test("An array at the root is an error if a JSON object is expected", .row("R-10"))
    func jsonArrayRoot() async {
        stub.on(nil, nil, .json(text: "[1]"))
        let error = await Fixture.failure { _ = try await service().request(UserEndpoint.open, as: .jsonObject) }
        #expect((error as? NetworkError)?.description.contains("root is not an object") == true)
    }

    @Test("Callbacks run on the chosen queue, and decoding does not run on this queue", .row("R-13"))
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

    @Test(
        "The success closure's type decides how the response is read; only one of the two closures runs, and only once",
        .row("R-05")
    )
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
                success: { (response: Response<User>) in continuation.resume(returning: "\(response.http.status.code)")
                },
                failure: { continuation.resume(returning: "\($0)") })
        }
        let nothing = await withCheckedContinuation { continuation in
            service.request(
                for: UserEndpoint.fetch(id: "7"), success: { continuation.resume(returning: "success") },
                failure: { continuation.resume(returning: "\(($0 as? NetworkError)?.kind as Any)") })
        }
        #expect(user == "7" && response == "200" && nothing.contains("unacceptableStatus"))
    }

    @Test("A call completes even if its service has been released", .row("R-33"))
    func releasedService() async throws {
        let manual = ManualTransport()
        var service: UserService? = UserService(environment: Fixture.environment) { $0.transport = manual }
        let isReleased = { [weak service] in service == nil }
        let task = service?.task(UserEndpoint.open, as: .string)
        await manual.waitForRequests()
        service = nil
        #expect(isReleased())
        manual.answer(.ok, "hello")
        let value = try await task?.value
        #expect(value == "hello")
    }

    @Test("A task starts at once, even without callbacks; callbacks that are added late get the response", .row("I-14"))
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

    @Test("Any transport can be used, and decorators can wrap it", .row("P-14", "I-02"))
    func decorators() async throws {
        stub.on(nil, nil, .text("hello"))
        let recording = RecordingTransport(stub)
        let service = UserService(environment: Fixture.environment) { $0.transport = recording }
        let text: String = try await service.request(UserEndpoint.open)
        #expect(text == "hello")
        #expect(recording.exchanges.map(\.request.url.path) == ["/v1/open"])
    }

    @Test("A subclass can have its own stored properties", .row("N-43"))
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

    @Test("A struct can also send requests")
    func requestingStruct() async throws {
        struct Weather: NetworkRequesting {
            let client: NetworkClient
        }
        stub.on(nil, nil, .text("sunny"))
        let weather = Weather(client: NetworkClient(environment: Fixture.environment) { $0.transport = stub })
        #expect(try await weather.request(UserEndpoint.open, as: .string) == "sunny")
    }
}
