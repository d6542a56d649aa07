import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Reachability that somebody observes", .endsInTime)
struct ReachabilityObservationTests {
    private let clock = ManualClock()
    private let probe = StubProbe(.reachable(.ethernetOrWiFi))

    private func service() -> ReachabilityService {
        ReachabilityService(probe: probe, interval: .seconds(5), clock: clock.networkClock)
    }

    @Test("A URL stands for its host and port; a status is a readable text")
    func texts() {
        let targets = [
            "https://api.example.com/v1", "http://api.example.com", "http://[::1]:8080/", "api.example.com", "::1",
        ].map { ReachabilityService.TCPConnectionProbe(host: $0, port: 9) }
        #expect(
            targets.map { "\($0.host) \($0.port)" } == [
                "api.example.com 443", "api.example.com 80", "::1 8080", "api.example.com 9", "::1 9",
            ])
        let statuses: [ReachabilityStatus] = [.unknown, .notReachable, .captivePortal, .reachable(.wireless)]
        #expect(statuses.map { "\($0)" } == ["unknown", "not reachable", "captive portal", "reachable (Wi-Fi)"])
    }

    @Test("Checks run while somebody observes, without a start; a stop ends them, a start continues without observers")
    func observed() async throws {
        let service = service()
        for _ in 0..<20 { await Task.yield() }
        #expect(probe.count == 0)
        let tokens = (0..<2).map { _ in service.statuses.observe(on: nil) { _ in } }
        while service.status == .unknown { await Task.yield() }
        tokens[0].cancel()
        await clock.waitForSleepers()
        probe.set(.notReachable)
        try await clock.advance(by: .seconds(1), until: { service.status == .notReachable })
        tokens[1].cancel()
        tokens[1].cancel()
        while clock.sleeperCount > 0 { await Task.yield() }
        let looks = probe.count
        let again = service.statuses.observe(on: nil) { _ in }
        while probe.count == looks { await Task.yield() }
        service.stopMonitoring()
        while clock.sleeperCount > 0 { await Task.yield() }
        service.startMonitoring()
        again.cancel()
        await clock.waitForSleepers()
        service.stopMonitoring()
        while clock.sleeperCount > 0 { await Task.yield() }
    }
}
