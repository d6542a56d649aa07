// Runs Swift blocks of Recipes.md, Connectivity.md and EventStreams.md on connectivity and long responses, unchanged.
// `DocumentationTests` compares them with the articles.

import Foundation
import Networking
import NetworkingTesting
import Testing

// snippet.offline
func makeOfflineFirst(
    _ api: NetworkEnvironment, _ reachability: ReachabilityService
) -> NetworkService {
    NetworkService(environment: api) {
        $0.cache = ResponseCache()
        $0.settings.caching = .staleIfOffline  // use stored responses offline
        $0.settings.timeouts.total = .seconds(90)  // includes the wait
        $0.errorHandlingService = ErrorHandlingService([
            ConnectivityErrorHandler(reachability, waitingAtMost: .seconds(60))
        ])
    }
}
// snippet.end

// snippet.banner
func watchNetwork(
    _ reachability: ReachabilityService,
    show: @escaping @MainActor @Sendable (_ isOffline: Bool) -> Void
) -> ObservationToken {
    reachability.statuses.observe(replayingCurrent: true) {
        show(!$0.isReachable)
    }
}
// snippet.end

// snippet.access
struct FilmDownload: Endpoint {
    let path: EndpointPath = "film"
    var settings: RequestSettings {
        RequestSettings { $0.networkAccess = [] }  // not over cellular networks
    }
}
// snippet.end

// snippet.lines
func readLog(_ service: NetworkService) async throws -> Int {
    var errors = 0
    for try await line in try await service.request(.get("log"), as: .lines)
    where line.contains("ERROR") { errors += 1 }
    return errors
}
// snippet.end

// snippet.resumeEvents
func followNews(
    _ service: NetworkService, after last: String,
    store: (_ id: String) -> Void
) async throws {
    let rule = ServerSentEvent.Reconnection(
        maximumFailures: 10, statuses: [.badGateway, .serviceUnavailable],
        after: last)
    for try await event in service.events(.get("news"), reconnecting: rule) {
        print(event.data)
        store(event.id)
    }
}
// snippet.end

// snippet.probe
struct TunnelProbe: ReachabilityProbe {
    let isUp: @Sendable () async -> Bool

    func status() async -> ReachabilityStatus {
        await isUp() ? .reachable(.wired) : .notReachable
    }
}
// snippet.end

@Suite("Recipes for changing connectivity and long responses", .endsInTime)
struct ConnectivityRecipeTests {
    @Test("An own probe has one method")
    func probe() async {
        let (up, down) = (TunnelProbe { true }, TunnelProbe { false })
        #expect(await up.status() == .reachable(.wired))
        #expect(await down.status() == .notReachable)
    }

    @Test("A stored response is used offline, a log is read line by line, and the network is observed")
    func offline() async throws {
        let stub = StubTransport()
        stub.on(
            .get, "/v1/stories", .text("one", headers: ["Cache-Control": "max-age=0", "ETag": "\"1\""]),
            .failure(.notConnected))
        stub.on(.get, "/v1/log", .text("INFO a\nERROR b\nERROR c\n"))
        let reachability = ReachabilityService(probe: StubProbe(.reachable(.wireless)))
        let made = makeOfflineFirst(Fixture.environment, reachability)
        let service = NetworkService(client: made.client.with { $0.transport = stub })
        #expect(try await service.request(.get("stories"), as: .string) == "one")
        #expect(try await service.request(.get("stories"), as: .string) == "one")
        #expect(try await readLog(service) == 2)
        let shown = Box<[Bool]>([])
        let token = watchNetwork(reachability) { isOffline in shown.change { $0.append(isOffline) } }
        await reachability.check()
        while shown.value.isEmpty { await Task.yield() }
        #expect(shown.value.first == false)
        token.cancel()
        reachability.stopMonitoring()
    }
}
