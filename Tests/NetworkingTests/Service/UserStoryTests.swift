import Foundation
import Networking
import NetworkingTesting
import Testing

// The code that an app developer writes: a service, its endpoints, its errors, and their tests.

private struct Note: Codable, Equatable { let id: Int, text: String }
private struct Rejection: Codable { let reason: String }
private enum NoteError: Error { case gone }

private enum Notes {
    struct Fetch: TypedEndpoint {
        typealias ResponseValue = Note
        let id: Int
        var path: EndpointPath { "notes/\(id)" }
        var authorizationType: AuthorizationType { .bearer }
        func error(for status: HTTPStatus) -> (any Error)? { status == .gone ? NoteError.gone : nil }
    }

    struct Add: TypedEndpoint {
        typealias ResponseValue = Note
        typealias ServerError = Rejection
        let text: String
        let path: EndpointPath = "notes"
        let method = HTTPMethod.post
        var body: HTTPBody { .json(["text": text]) }
        var authorizationType: AuthorizationType { .bearer }
    }

    static let examples = [
        EndpointExample(Fetch(id: 7), response: .json(Note(id: 7, text: "milk"))),
        EndpointExample(
            Add(text: "eggs"), response: .json(Note(id: 8, text: "eggs"), status: .created),
            errorResponse: .json(Rejection(reason: "too long"), status: .unprocessableContent)),
    ]
}

private final class NoteService: NetworkService, @unchecked Sendable {
    func note(_ id: Int) async throws -> Note { try await request(Notes.Fetch(id: id)) }
    func add(_ text: String) async throws -> Note { try await request(Notes.Add(text: text)) }
}

@Suite("A service of an app with its endpoints and errors", .endsInTime)
struct UserStoryTests {
    private let environment = NetworkEnvironment(
        baseURL: URL(string: "https://api.example.com/v1") ?? URL(fileURLWithPath: "/"))
    private let session = AccessTokenSupervisor(token: AccessToken("t"), clock: Fixture.stillClock) { _ in
        AccessToken("fresh")
    }

    private func service(_ stub: StubTransport) -> NoteService {
        NoteService(environment: environment, authorizedBy: session) { $0.transport = stub }
    }

    @Test("The endpoints meet their contract, and a stub is created from their examples")
    func contract() async throws {
        try await EndpointContract.check(Notes.examples, in: environment)
        let service = try await service(StubTransport(examples: Notes.examples, in: environment))
        #expect(try await service.note(7) == Note(id: 7, text: "milk"))
        #expect(try await service.add("eggs").id == 8)
    }

    @Test("An error response throws the decoded server error, or the error that the endpoint returns for its status")
    func refusals() async throws {
        let stub = StubTransport()
        stub.on(.post, "/v1/notes", .json(Rejection(reason: "too long"), status: .unprocessableContent))
        stub.on(.get, "/v1/notes/9", .status(.gone))
        do { _ = try await service(stub).add("…") } catch let error as ServerFailure<Rejection> {
            #expect(error.serverError.reason == "too long" && error.status == .unprocessableContent)
        }
        await #expect(throws: NoteError.gone) { _ = try await service(stub).note(9) }
    }
}
