import Foundation
import Networking
import NetworkingTesting
import Testing

/// The code of *Coming from iONess, NerdzNetworking, RonasIT Networking or pkrll/Network*.
@Suite("The app of the guide from the four libraries", .endsInTime)
struct ComingFromFourLibrariesExamples {
    struct Note: Codable, Equatable, Sendable {
        let id: Int
        let title: String
    }

    struct NoteFault: Decodable, Sendable {
        let message: String
    }

    enum NoteError: Error {
        case unknownNote
    }

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
            try await get("login", ["name": name, "password": password])
        }

        func refresh(_ old: AccessToken?) async throws -> AccessToken {
            guard let text = old?.refreshToken else {
                throw AccessToken.Rejected()  // the session is over
            }
            return try await get("token", ["refresh": text])
        }

        private func get(
            _ path: EndpointPath, _ values: [String: String]
        ) async throws -> AccessToken {
            let call = AdHocEndpoint(.post, path).body(.json(values))
            let grant: Grant = try await request(call)
            return grant.accessToken
        }
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

        var method: HTTPMethod {
            if case .note = self { .get } else { .post }
        }

        var body: HTTPBody {
            switch self {
            case .note: .empty
            case .add(let title): .json(["title": title])
            case .photo(let data):
                .multipart([.data("photo", data, fileName: "a.jpg")])
            }
        }

        var authorizationType: AuthorizationType { .bearer }
    }

    final class NoteService: NetworkService, @unchecked Sendable {
        func note(_ id: Int) -> RequestTask<Note> {
            task(NoteEndpoint.note(id: id), as: .json(Note.self))
        }

        func add(_ title: String) async throws -> Note {
            try await request(NoteEndpoint.add(title: title))
        }
    }

    func makeNotes(
        _ api: NetworkEnvironment, _ auth: AuthService,
        sending transport: any Transport = PlatformTransport.shared
    ) -> (NoteService, AccessTokenSupervisor) {
        let session = AccessTokenSupervisor(token: nil) { old in
            try await auth.refresh(old)
        }
        let notes = NoteService(
            environment: api, authorizedBy: session
        ) {
            $0.transport = transport
        }
        return (notes, session)
    }

    @Test
    func aNoteIsReadWithARefreshedToken() async throws {
        let stub = StubTransport()
        let grant = ["token": "new", "refreshToken": "b"]
        stub.on(.post, "/token", .json(grant))
        stub.on(.get, "/notes/7") { request in
            request.headers[.authorization] == "Bearer new"
                ? .json(Note(id: 7, title: "Milk"))
                : .status(.unauthorized)
        }
        let url = URL(string: "https://api.example.com")
        let api = NetworkEnvironment(baseURL: url)
        let auth = AuthService(environment: api) { $0.transport = stub }
        let (notes, session) = makeNotes(api, auth, sending: stub)
        session.accessToken = AccessToken("old", refreshToken: "a")
        #expect(try await notes.note(7).value.title == "Milk")
        #expect(stub.requests.count == 3)  // 401, refresh, 200
    }

    func iONess(_ notes: NoteService) async throws {
        notes.note(7)
            .onSuccess { note in print(note.title) }
            .onFailure { error in print(error) }
        let three = RetryPolicy(
            retries: 3, backoff: .constant(.seconds(1)), on: .any)
        let settings = RequestSettings {
            $0.validators = []  // accepts every status
            $0.duplicates = .always(.join)  // shares a transfer
            $0.retry = three
        }
        let all = notes.task(.get("notes"), as: .jsonArray, with: settings)
        let title = notes.note(7).map { note in note.title }
        let photo = title.flatMap { title in
            notes.task(.get("photos/\(title)"), as: .data)
        }
        let both = RequestTask.all(title, photo)
        print(try await all.value, try await both.value)
    }

    struct FetchNote: TypedEndpoint {
        typealias ResponseValue = Note
        typealias ServerError = NoteFault

        let id: Int
        var path: EndpointPath { "notes/\(id)" }
    }

    func nerdzNetworking(
        _ auth: AuthService, _ notes: NoteService, _ session: AccessTokenSupervisor
    ) async throws -> RetryPolicy {
        _ = try await auth.request(
            .post("login"),
            as: .json(Grant.self).storingToken(in: session, \.accessToken))
        do {
            _ = try await notes.request(FetchNote(id: 7))
        } catch let error as ServerFailure<NoteFault> {
            print(error.serverError.message, error.status ?? 0)
        }
        let locked = RetryPolicy(retries: 1, on: .statuses(.locked))
        return locked
    }

    struct NoteErrorHandler: ErrorHandler {
        func handle(
            _ failure: RequestFailure
        ) async -> ErrorHandlingResult {
            guard failure.endpoint is NoteEndpoint,
                failure.status == .notFound
            else { return .next(failure.error) }
            return .next(NoteError.unknownNote)
        }
    }

    func ronasIT(_ notes: NoteService, _ image: Data) -> ObservationToken {
        notes.request(
            for: NoteEndpoint.photo(image), success: { print("done") },
            failure: { error in print(error) }
        ).onProgress { print($0.upload.fraction ?? 0) }
        let reachability = ReachabilityService()  // or `host:`
        let token = reachability.statuses.observe { status in
            print(status.isReachable)
        }
        reachability.startMonitoring()
        return token
    }

    func pkrllNetwork(_ url: URL, _ session: AccessTokenSupervisor) -> NoteService {
        let api = NetworkEnvironment(baseURL: url, pathPrefix: "v1")
        let notes = NoteService(
            environment: api, authorizedBy: session
        ) {
            $0.concurrencyLimit = ConcurrencyLimit(4)  // throttle
        }
        return notes
    }

    enum Tenant: HTTPRequest.Option {
        static let defaultValue = "main"
    }

    struct TenantAdapter: SynchronousRequestAdapter {
        func adapt(
            _ request: inout HTTPRequest, for endpoint: any Endpoint
        ) {
            request.headers["X-Tenant"] = request[option: Tenant.self]
        }
    }
}
