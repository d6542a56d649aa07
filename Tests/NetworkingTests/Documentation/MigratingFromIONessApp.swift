// The app of MigratingFromIONess.md, unchanged. `DocumentationTests` compares the blocks with the article.

import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("The app of the guide for migrating from iONess", .endsInTime)
struct IONessAppTests {
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

    // snippet.service
    struct Note: Codable, Equatable, Sendable {
        let id: Int
        let title: String
    }

    enum NoteError: Error {
        case unknownNote
    }

    final class NoteService: NetworkService, @unchecked Sendable {
        func note(_ id: Int) -> RequestTask<Note> {
            let call = AdHocEndpoint(.get, "notes/\(id)")
                .errors([.notFound: NoteError.unknownNote])
            return task(call, as: .json(Note.self))
        }

        func add(_ title: String) -> RequestTask<Note> {
            task(.post("notes").body(.json(["title": title])), as: .json(Note.self))
        }

        func send(_ photo: URL) -> RequestTask<Void> {
            task(.post("photos").body(.file(photo)), as: .void)
        }
    }

    func makeNotes(
        _ api: NetworkEnvironment, _ session: AccessTokenSupervisor,
        sending transport: any Transport = PlatformTransport.shared
    ) -> NoteService {
        NoteService(environment: api, authorizedBy: session) {
            $0.transport = transport
            $0.settings.authorizationType = .bearer  // for every call
        }
    }
    // snippet.end

    // snippet.use
    func show(_ id: Int, from notes: NoteService) {
        notes.note(id)
            .onSuccess { note in print(note.title) }
            .onFailure { error in
                guard case NoteError.unknownNote = error else { return }
                print("there is no such note")
            }
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
        #expect(try await notes.note(7).value.title == "Milk")
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
        #expect(try await notes.add("Tea").value.id == 8)
        let photo = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("jpeg".utf8).write(to: photo)
        defer { try? FileManager.default.removeItem(at: photo) }
        try await notes.send(photo).value
        await #expect(throws: NoteError.unknownNote) { try await notes.note(9).value }
        show(9, from: notes)
        let authorized = stub.requests.filter { $0.url.path != "/login" }
        #expect(authorized.allSatisfy { $0.headers[.authorization] == "Bearer new" })
    }
}
