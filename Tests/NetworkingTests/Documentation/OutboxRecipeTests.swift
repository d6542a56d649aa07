// Runs, unchanged, the blocks of Outbox.md and of the recipe about offline comments. `DocumentationTests` compares them.

import Foundation
import Networking
import NetworkingOutbox
import NetworkingTesting
import Testing

// snippet.outbox
enum CommentEndpoint: Endpoint, Codable {
    case add(to: Int, String)

    var path: EndpointPath {
        switch self {
        case .add(let post, _): "posts/\(post)/comments"
        }
    }

    var method: HTTPMethod { .post }

    var body: HTTPBody {
        switch self {
        case .add(_, let text): .json(["text": text])
        }
    }

    var authorizationType: AuthorizationType { .bearer }
}

func makeOutbox(
    _ service: NetworkService, in folder: URL,
    _ reachability: ReachabilityService
) throws -> Outbox {
    try Outbox(
        for: service, in: folder,
        endpoints: [.init(CommentEndpoint.self, name: "comment")],
        owner: { token in token?.userInfo["id"] },
        reachability: reachability)
}

func comment(_ text: String, on post: Int, _ outbox: Outbox) async throws {
    try await outbox.enqueue(
        CommentEndpoint.add(to: post, text),
        order: "posts/\(post)", expires: .seconds(72 * 3600))
}

func observe(_ outbox: Outbox, show: @escaping @Sendable (String) -> Void)
    -> ObservationToken
{
    outbox.changes.observe { entry in
        switch entry.state {
        case .sent, .expired, .dropped:
            show("over")
            Task { try? await outbox.acknowledge(entry.id) }
        case .refused(let status, let reason, _):
            show("refused: \(status?.description ?? reason)")
        case .inDoubt, .unreadable:
            show("needs a decision")
        case .waiting, .sending, .behind, .waitingForOwner:
            show("on its way")
        }
    }
}

func runBackgroundTask(_ outbox: Outbox) async -> Bool {
    await outbox.flush(within: .seconds(25)) == 0
}

func makeSession(
    _ store: some AccessTokenStore,
    renew: @escaping AccessTokenSupervisor.Refresh
) -> AccessTokenSupervisor {
    AccessTokenSupervisor(store: store) { old in
        var new = try await renew(old)
        new.userInfo = old?.userInfo ?? [:]
        return new
    }
}

enum PostEndpoint: Endpoint, Codable {
    case comment(on: Int, String)

    var path: EndpointPath { "posts" }
    var method: HTTPMethod { .post }
}

let upgradingKinds: [Outbox.Kind] = [
    .init(PostEndpoint.self, name: "comment", version: 2),
    .init(name: "comment", version: 1) { (old: CommentEndpoint) in
        switch old {
        case .add(let post, let text):
            PostEndpoint.comment(on: post, text)
        }
    },
]

// snippet.offline-comments
/// The comments of a post: those of the server, then those on their way.
func comments(
    on post: Int, from service: NetworkService, _ outbox: Outbox
) async throws -> [String] {
    let sent: [String] = try await service.request(
        .get("posts/\(post)/comments"))
    let pending = try await outbox.pending(in: "posts/\(post)")
    return sent
        + pending.compactMap { entry in
            guard case .add(_, let text)? = entry.endpoint as? CommentEndpoint
            else { return nil }
            return text + (entry.state.needsDecision ? " (not sent)" : " …")
        }
}
// snippet.end

@Suite("The recipes with an outbox", .endsInTime)
struct OutboxRecipeTests {
    @Test("A comment is shown at once, sent when the network is back, and its end is acknowledged")
    func comments() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let probe = StubProbe(.notReachable)
        let reachability = ReachabilityService(probe: probe, clock: clock.networkClock)
        let stub = StubTransport()
        let session = AccessTokenSupervisor(
            token: AccessToken("1", userInfo: ["id": "ann"]), clock: clock.networkClock
        ) { _ in throw AccessToken.Rejected() }
        let service = NetworkService(
            environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com")), authorizedBy: session
        ) {
            $0.transport = stub
            $0.clock = clock.networkClock
        }
        stub.on(.get, "/posts/7/comments", StubResponse(body: Data(#"["first"]"#.utf8)))
        stub.on(.post, "/posts/7/comments", .failure(.notConnected), StubResponse(.created))
        let outbox = try makeOutbox(service, in: folder.url.appending(path: "outbox"), reachability)
        let (ends, end) = AsyncStream.makeStream(of: String.self)
        let token = observe(outbox) { end.yield($0) }
        try await comment("hi", on: 7, outbox)
        #expect(try await NetworkingTests.comments(on: 7, from: service, outbox) == ["first", "hi …"])
        while try await outbox.pending().first?.state != .waiting { await Task.yield() }
        probe.set(.reachable(.wireless))
        let passing = Task {
            try? await clock.advance(by: .milliseconds(250), atMost: .max, until: { Task.isCancelled })
        }
        for await text in ends where text == "over" { break }
        passing.cancel()
        token.cancel()
        #expect(stub.requests.filter { $0.method == .post }.count == 2)
        #expect(await runBackgroundTask(outbox))
    }
}
