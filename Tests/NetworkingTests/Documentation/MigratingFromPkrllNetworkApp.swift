// The app of MigratingFromPkrllNetwork.md, unchanged. `DocumentationTests` compares the blocks with the article.

import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("The app of the guide from pkrll/Network", .endsInTime)
struct PkrllNetworkAppTests {
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

    // snippet.chain
    func makeNotes(
        _ session: AccessTokenSupervisor,
        sending transport: any Transport = PlatformTransport.shared
    ) -> NetworkService {
        let api = NetworkEnvironment(
            baseURL: URL(string: "https://api.example.com"), pathPrefix: "v1")
        return NetworkService(environment: api, authorizedBy: session) {
            $0.transport = transport
            $0.concurrencyLimit = ConcurrencyLimit(4)  // throttle
            $0.settings.authorizationType = .bearer  // for every call
        }
    }
    // snippet.end

    // snippet.calls
    struct Note: Codable, Equatable, Sendable {
        let id: Int
        let title: String
    }

    func exampleOfCalls(_ notes: NetworkService, _ photo: Data) async throws {
        let note: Note = try await notes.request(.get("notes/7"))
        let call = AdHocEndpoint(.post, "notes").body(.json(["title": "Tea"]))
        let added: Note = try await notes.request(call)
        try await notes.request(
            .post("photos").body(.data(photo, contentType: .jpeg)))
        print(note.title, added.id)
    }
    // snippet.end

    // snippet.errors
    enum NoteError: Error {
        case unknownNote
        case offline
    }

    func note(_ id: Int, from notes: NetworkService) async throws -> Note {
        do {
            return try await notes.request(.get("notes/\(id)"))
        } catch GeneralRequestError.notFound {
            throw NoteError.unknownNote
        } catch GeneralRequestError.noInternetConnection {
            throw NoteError.offline
        }
    }
    // snippet.end

    // snippet.test
    @Test func aNoteIsReadWithARefreshedToken() async throws {
        let stub = StubTransport()
        stub.on(.post, "/token", .json(["token": "new", "refreshToken": "b"]))
        stub.on(.get, "/v1/notes/7") { request in
            request.headers[.authorization] == "Bearer new"
                ? .json(Note(id: 7, title: "Milk")) : .status(.unauthorized)
        }
        let url = URL(string: "https://api.example.com")
        let api = NetworkEnvironment(baseURL: url)
        let auth = NetworkService(environment: api) { $0.transport = stub }
        let session = makeSession(auth)
        session.accessToken = AccessToken("old", refreshToken: "a")
        let notes = makeNotes(session, sending: stub)
        #expect(try await note(7, from: notes).title == "Milk")
        #expect(stub.requests.count == 3)  // refused, refreshed, sent again
    }
    // snippet.end

    @Test("The app signs in, adds a note, uploads a photo and maps an error")
    func calls() async throws {
        let stub = StubTransport()
        stub.on(.post, "/login", .json(["token": "new", "refreshToken": "b"]))
        stub.on(.get, "/v1/notes/7", .json(Note(id: 7, title: "Milk")))
        stub.on(.post, "/v1/notes", .json(Note(id: 8, title: "Tea"), status: .created))
        stub.on(.post, "/v1/photos", .status(.noContent))
        stub.on(.get, "/v1/notes/9", .status(.notFound))
        stub.on(.get, "/v1/notes/10", .failure(.notConnected))
        let url = URL(string: "https://api.example.com")
        let api = NetworkEnvironment(baseURL: url)
        let auth = NetworkService(environment: api) { $0.transport = stub }
        let session = makeSession(auth)
        try await signIn("ada", "secret", on: auth, into: session)
        let notes = makeNotes(session, sending: stub)
        try await exampleOfCalls(notes, Data("jpeg".utf8))
        await #expect(throws: NoteError.unknownNote) { try await note(9, from: notes) }
        await #expect(throws: NoteError.offline) { try await note(10, from: notes) }
    }
}
