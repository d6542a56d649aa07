// The app of MigratingFromNerdzNetworking.md, unchanged. `DocumentationTests` compares the blocks with the article.

import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("The app of the guide for migrating from NerdzNetworking", .endsInTime)
struct NerdzNetworkingAppTests {
    // snippet.session
    struct Grant: Decodable, Sendable {
        let token: String
        let refreshToken: String

        var accessToken: AccessToken {
            AccessToken(token, refreshToken: refreshToken)
        }
    }

    struct NoteFault: Decodable, Sendable {
        let message: String
    }

    struct Refresh: TypedEndpoint {
        typealias ResponseValue = Grant
        typealias ServerError = NoteFault

        let text: String
        let path: EndpointPath = "token"
        let method = HTTPMethod.post
        var body: HTTPBody { .json(["refresh": text]) }
    }

    func makeSession(_ auth: NetworkService) -> AccessTokenSupervisor {
        AccessTokenSupervisor(token: nil) { old in
            guard let text = old?.refreshToken else {
                throw AccessToken.Rejected()  // the session is over
            }
            return try await auth.request(Refresh(text: text)).accessToken
        }
    }

    func signIn(
        _ name: String, _ password: String,
        on auth: NetworkService, into session: AccessTokenSupervisor
    ) async throws {
        let call = AdHocEndpoint(.post, "login")
            .body(.json(["name": name, "password": password]))
        _ = try await auth.request(
            call, as: .json(Grant.self).storingToken(in: session, \.accessToken))
    }
    // snippet.end

    // snippet.service
    struct Note: Codable, Equatable, Sendable {
        let id: Int
        let title: String
    }

    struct FetchNote: TypedEndpoint {
        typealias ResponseValue = Note
        typealias ServerError = NoteFault

        let id: Int
        var path: EndpointPath { "notes/\(id)" }
    }

    struct AddNote: TypedEndpoint {
        typealias ResponseValue = Note
        typealias ServerError = NoteFault

        let title: String
        let path: EndpointPath = "notes"
        let method = HTTPMethod.post
        var body: HTTPBody { .json(["title": title]) }
    }

    func makeNotes(
        _ api: NetworkEnvironment, _ session: AccessTokenSupervisor,
        sending transport: any Transport = PlatformTransport.shared
    ) -> NetworkService {
        NetworkService(environment: api, authorizedBy: session) {
            $0.transport = transport
            $0.retry = RetryPolicy(retries: 1)
            $0.settings.authorizationType = .bearer  // for every call
        }
    }
    // snippet.end

    // snippet.use
    func show(_ id: Int, from notes: NetworkService) {
        notes.task(FetchNote(id: id))
            .onSuccess { note in print(note.title) }
            .onFailure { error in
                if let failure = error as? ServerFailure<NoteFault> {
                    print(failure.serverError.message, failure.status ?? 0)
                } else {
                    print(error)
                }
            }
    }
    // snippet.end

    // snippet.upload
    func send(_ photo: URL, to notes: NetworkService) -> RequestTask<Void> {
        let form = HTTPBody.multipart([
            .file("photo", at: photo, contentType: .jpeg)
        ])
        return notes.task(.post("photos").body(form), as: .void)
            .onProgress { print($0.upload.fraction ?? 0) }
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
        #expect(try await notes.request(FetchNote(id: 7)).title == "Milk")
        #expect(stub.requests.count == 3)  // refused, refreshed, sent again
    }
    // snippet.end

    @Test("The app signs in, adds a note, uploads a photo and maps an error")
    func calls() async throws {
        let stub = StubTransport()
        stub.on(.post, "/login", .json(["token": "new", "refreshToken": "b"]))
        stub.on(.post, "/notes", .json(Note(id: 8, title: "Tea"), status: .created))
        stub.on(.post, "/photos", .status(.noContent))
        stub.on(.get, "/notes/9", .json(["message": "no such note"], status: .notFound))
        let url = URL(string: "https://api.example.com")
        let api = NetworkEnvironment(baseURL: url)
        let auth = NetworkService(environment: api) { $0.transport = stub }
        let session = makeSession(auth)
        try await signIn("ada", "secret", on: auth, into: session)
        #expect(session.accessToken?.value == "new")
        let notes = makeNotes(api, session, sending: stub)
        #expect(try await notes.request(AddNote(title: "Tea")).id == 8)
        let photo = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("jpeg".utf8).write(to: photo)
        defer { try? FileManager.default.removeItem(at: photo) }
        try await send(photo, to: notes).value
        let error = await #expect(throws: ServerFailure<NoteFault>.self) { try await notes.request(FetchNote(id: 9)) }
        #expect(error?.serverError.message == "no such note")
        show(9, from: notes)
    }
}
