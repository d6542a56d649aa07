// The app of MigratingFromAlamofire.md, unchanged. `DocumentationTests` compares the blocks with the article.

import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("The app of the guide from Alamofire and Moya", .endsInTime)
struct AlamofireAppTests {
    // snippet.session
    struct Grant: Decodable, Sendable {
        let token: String
        let refreshToken: String

        var accessToken: AccessToken {
            AccessToken(token, refreshToken: refreshToken)
        }
    }

    func makeSession(_ auth: NetworkService) -> AccessTokenSupervisor {
        AccessTokenSupervisor(token: nil) { old in
            guard let text = old?.refreshToken else {
                throw AccessToken.Rejected()  // the session is over
            }
            let call = AdHocEndpoint(.post, "token").body(.json(["refresh": text]))
            let grant: Grant = try await auth.request(call)
            return grant.accessToken
        }
    }

    func signIn(
        _ name: String, _ password: String,
        on auth: NetworkService, into session: AccessTokenSupervisor
    ) async throws {
        let call = AdHocEndpoint(.post, "login")
            .body(.json(["name": name, "password": password]))
        let grant: Grant = try await auth.request(call)
        session.accessToken = grant.accessToken
    }
    // snippet.end

    // snippet.target
    struct Note: Codable, Equatable, Sendable {
        let id: Int
        let title: String
    }

    enum NoteAPI: Endpoint {
        case note(id: Int)
        case add(title: String)
        case photo(URL)

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
            case .photo(let file): .multipart([.file("photo", at: file)])
            }
        }

        var authorizationType: AuthorizationType { .bearer }
    }

    final class NoteService: NetworkService, @unchecked Sendable {
        func note(_ id: Int) async throws -> Note {
            try await request(NoteAPI.note(id: id))
        }

        func add(_ title: String) async throws -> Note {
            try await request(NoteAPI.add(title: title))
        }

        func send(_ photo: URL) async throws {
            try await request(NoteAPI.photo(photo))
        }
    }

    func makeNotes(
        _ api: NetworkEnvironment, _ session: AccessTokenSupervisor,
        sending transport: any Transport = PlatformTransport.shared
    ) -> NoteService {
        NoteService(environment: api, authorizedBy: session) {
            $0.transport = transport
            $0.retry = .standard
            $0.errorMapping = NetworkConfiguration.ErrorMapping { error, _ in
                error as? GeneralRequestError == .notFound
                    ? NoteError.unknownNote : error
            }
        }
    }

    enum NoteError: Error {
        case unknownNote
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
        let auth = NetworkService(environment: api) { $0.transport = stub }
        let session = makeSession(auth)
        session.accessToken = AccessToken("old", refreshToken: "a")
        let notes = makeNotes(api, session, sending: stub)
        #expect(try await notes.note(7).title == "Milk")
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
        let auth = NetworkService(environment: api) { $0.transport = stub }
        let session = makeSession(auth)
        try await signIn("ada", "secret", on: auth, into: session)
        let notes = makeNotes(api, session, sending: stub)
        #expect(try await notes.add("Tea").id == 8)
        let photo = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("jpeg".utf8).write(to: photo)
        defer { try? FileManager.default.removeItem(at: photo) }
        try await notes.send(photo)
        await #expect(throws: NoteError.unknownNote) { try await notes.note(9) }
    }
}
