import Foundation
import Networking
import NetworkingOutbox
import NetworkingTesting
import Testing

/// An endpoint that an outbox can store.
enum NoteEndpoint: Endpoint, Codable, Hashable {
    case add(String)
    case publish(String)
    case attach(URL)

    var path: EndpointPath {
        switch self {
        case .add: "notes"
        case .publish: "public"
        case .attach: "files"
        }
    }

    var method: HTTPMethod { .post }

    var body: HTTPBody {
        switch self {
        case .add(let text), .publish(let text): .json(["text": text])
        case .attach(let file): .file(file)
        }
    }

    var authorizationType: AuthorizationType { if case .publish = self { .none } else { .bearer } }
}

/// An outbox on a manual clock and a stub, and what it publishes.
final class OutboxFixture: Sendable {
    let folder: TemporaryFolder
    let stub = StubTransport()
    let clock: ManualClock
    let session: AccessTokenSupervisor?
    let service: NetworkService

    init(
        folder: TemporaryFolder? = nil, clock: ManualClock = ManualClock(), user: String? = "ann",
        refreshed: AccessToken? = nil,
        configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) throws {
        let session = user.map { user in
            AccessTokenSupervisor(token: AccessToken("1", userInfo: ["user": user]), clock: clock.networkClock) { _ in
                guard let refreshed else { throw AccessToken.Rejected() }
                return refreshed
            }
        }
        self.session = session
        self.folder = try folder ?? TemporaryFolder()
        self.clock = clock
        let stub = stub
        service = NetworkService(
            environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com")), authorizedBy: session
        ) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.backoffGate = nil
            configure(&$0)
        }
        stub.on(nil, nil, StubResponse(.created))
    }

    static let kinds = [Outbox.Kind(NoteEndpoint.self, name: "note")]

    func outbox(
        _ kinds: [Outbox.Kind] = kinds, inDoubt: Outbox.InDoubt = .sendAgain, dropsAtLogOut: Bool = false,
        copiesFiles: Bool = true, concurrent: Int = 4,
        owner: (@Sendable (AccessToken?) -> String?)? = { $0?.userInfo["user"] }
    ) throws -> Outbox {
        try Outbox(
            for: service, in: folder.url.appending(path: "outbox"), endpoints: kinds, owner: owner, inDoubt: inDoubt,
            dropsAtLogOut: dropsAtLogOut, copiesFiles: copiesFiles, maximumConcurrentSends: concurrent)
    }

    /// Runs a closure while time passes on the clock.
    func whileTimePasses<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        let clock = clock
        let passing = Task {
            try? await clock.advance(by: .milliseconds(250), atMost: .max, until: { Task.isCancelled })
        }
        defer { passing.cancel() }
        return try await body()
    }

    /// The texts of the notes that the server has received, in their order.
    var texts: [String] {
        stub.requests.map { request in
            (try? JSONDecoder().decode([String: String].self, from: request.body.data ?? Data()))?["text"] ?? "?"
        }
    }

    var keys: [String] { stub.requests.map { $0.headers[.idempotencyKey] ?? "none" } }

    /// The names of the files in the folder of the outbox.
    var files: [String] { folder.files.keys.map { String($0.dropFirst("outbox/".count)) }.sorted() }
}

/// The entries that an outbox publishes, in their order.
struct Changes {
    private var values: AsyncStream<Outbox.Entry>.Iterator

    init(of outbox: Outbox) { values = outbox.changes.values().makeAsyncIterator() }

    /// Waits for the next entry that a closure accepts.
    mutating func next(where isWanted: (Outbox.Entry) -> Bool) async throws -> Outbox.Entry {
        while let entry = await values.next() { if isWanted(entry) { return entry } }
        throw CancellationError()
    }

    /// Waits until an entry is over, or waits for a decision.
    mutating func nextEnd() async throws -> Outbox.Entry {
        try await next { $0.state.isEnd || $0.state.needsDecision }
    }
}
