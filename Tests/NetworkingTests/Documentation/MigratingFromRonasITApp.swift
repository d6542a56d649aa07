// The app of MigratingFromRonasIT.md, unchanged. `DocumentationTests` compares the blocks with the article.

import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("The app of the guide from RonasIT Networking", .endsInTime)
struct RonasITAppTests {
    // snippet.session
    struct Grant: Decodable, Sendable {
        let token: String
        let refreshToken: String

        var accessToken: AccessToken {
            AccessToken(token, refreshToken: refreshToken)
        }
    }

    final class AuthService: NetworkService, @unchecked Sendable {
        func signIn(
            _ name: String, _ password: String
        ) async throws -> AccessToken {
            let body = HTTPBody.json(["name": name, "password": password])
            let grant: Grant = try await request(.post("login").body(body))
            return grant.accessToken
        }

        func refresh(_ old: AccessToken?) async throws -> AccessToken {
            guard let text = old?.refreshToken else {
                throw AccessToken.Rejected()  // the session is over
            }
            let body = HTTPBody.json(["refresh": text])
            let grant: Grant = try await request(.post("token").body(body))
            return grant.accessToken
        }
    }

    func makeNotes(
        _ api: NetworkEnvironment, _ auth: AuthService,
        sending transport: any Transport = PlatformTransport.shared
    ) -> (NoteService, AccessTokenSupervisor) {
        let session = AccessTokenSupervisor(token: nil) { old in
            try await auth.refresh(old)
        }
        let notes = NoteService(environment: api, authorizedBy: session) {
            $0.transport = transport
        }
        return (notes, session)
    }
    // snippet.end

    // snippet.service
    struct Note: Codable, Equatable, Sendable {
        let id: Int
        let title: String
    }

    enum NoteEndpoint: Endpoint {
        case note(id: Int)
        case add(title: String)
        case photo(Data)

        var path: EndpointPath {
            switch self {
            case .note(let id): "notes/\(id)"
            case .add: "notes"
            case .photo: "photos"
            }
        }

        var method: HTTPMethod { if case .note = self { .get } else { .post } }

        var body: HTTPBody {
            switch self {
            case .note: .empty
            case .add(let title): .json(["title": title])
            case .photo(let jpeg):
                .multipart([.data("photo", jpeg, fileName: "photo.jpg")])
            }
        }

        var authorizationType: AuthorizationType { .bearer }
    }

    final class NoteService: NetworkService, @unchecked Sendable {
        @discardableResult
        func note(
            _ id: Int, success: @escaping @MainActor @Sendable (Note) -> Void,
            failure: @escaping @MainActor @Sendable (any Error) -> Void
        ) -> any CancellableRequest {
            let endpoint = NoteEndpoint.note(id: id)
            return request(for: endpoint, success: success, failure: failure)
        }

        func add(_ title: String) async throws -> Note {
            try await request(NoteEndpoint.add(title: title))
        }

        func send(_ photo: Data) async throws {
            try await request(NoteEndpoint.photo(photo))
        }
    }
    // snippet.end

    // snippet.errors
    enum NoteError: Error {
        case unknownNote
    }

    struct NoteErrorHandler: ErrorHandler {
        func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
            guard failure.endpoint is NoteEndpoint, failure.status == .notFound
            else { return .next(failure.error) }
            return .next(NoteError.unknownNote)
        }
    }

    func handling() -> ErrorHandlingService {
        ErrorHandlingService([NoteErrorHandler()])
    }
    // snippet.end

    // snippet.test
    @Test func aNoteIsReadWithARefreshedToken() async throws {
        let stub = StubTransport()
        stub.on(.post, "/token", .json(["token": "new", "refreshToken": "b"]))
        stub.on(.get, "/notes/7") { request in
            request.headers[.authorization] == "Bearer new"
                ? .json(Note(id: 7, title: "Milk")) : .status(.unauthorized)
        }
        let url = URL(string: "https://api.example.com")
        let api = NetworkEnvironment(baseURL: url)
        let auth = AuthService(environment: api) { $0.transport = stub }
        let (notes, session) = makeNotes(api, auth, sending: stub)
        session.accessToken = AccessToken("old", refreshToken: "a")
        let note: Note = try await notes.request(NoteEndpoint.note(id: 7))
        #expect(note.title == "Milk")
        #expect(stub.requests.count == 3)  // refused, refreshed, sent again
    }
    // snippet.end

    @Test("The app signs in, adds a note, uploads a photo and maps an error")
    func calls() async throws {
        let stub = StubTransport()
        stub.on(.post, "/login", .json(["token": "new", "refreshToken": "b"]))
        stub.on(.post, "/notes", .json(Note(id: 8, title: "Tea"), status: .created))
        stub.on(.post, "/photos", .status(.noContent))
        stub.on(.get, "/notes/9", .status(.notFound))
        let url = URL(string: "https://api.example.com")
        let api = NetworkEnvironment(baseURL: url)
        let auth = AuthService(environment: api) { $0.transport = stub }
        let session = AccessTokenSupervisor(token: nil) { old in try await auth.refresh(old) }
        session.accessToken = try await auth.signIn("ada", "secret")
        let notes = NoteService(environment: api, authorizedBy: session) {
            $0.transport = stub
            $0.errorHandlingService = handling()
        }
        #expect(try await notes.add("Tea").id == 8)
        try await notes.send(Data("jpeg".utf8))
        let error = await withCheckedContinuation { continuation in
            notes.note(9, success: { _ in }, failure: { continuation.resume(returning: $0) })
        }
        #expect(error as? NoteError == .unknownNote)
    }
}
