import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Reachability")
struct ReachabilityTests {
    private let clock = ManualClock()
    private let probe = StubProbe(.reachable(.ethernetOrWiFi))

    private func service() -> ReachabilityService {
        ReachabilityService(probe: probe, interval: .seconds(5), clock: clock.networkClock)
    }

    @Test("R-31: the first status is told after the start, then changes alone; stopping ends it")
    func changes() async {
        let service = service()
        let told = Box<[ReachabilityStatus]>([])
        let token = service.statuses.observe { status in told.change { $0.append(status) } }
        #expect(service.status == .unknown)
        service.startMonitoring()
        service.startMonitoring()
        for status in [
            ReachabilityStatus.reachable(.ethernetOrWiFi), .notReachable, .notReachable, .reachable(.cellular),
        ] {
            await clock.waitForSleepers()
            probe.set(status)
            clock.advance(by: .seconds(5))
        }
        await clock.waitForSleepers()
        #expect(clock.sleeperCount == 1)
        #expect(probe.count == 5)
        #expect(told.value == [.reachable(.ethernetOrWiFi), .notReachable, .reachable(.cellular)])
        service.stopMonitoring()
        while clock.sleeperCount > 0 { await Task.yield() }
        token.cancel()
    }

    @Test("R-31: isReachable answers before monitoring, too; R-32: only what is reachable is")
    func before() {
        #expect(service().isReachable)
        probe.set(.notReachable)
        #expect(!service().isReachable)
        #expect(!ReachabilityStatus.unknown.isReachable && !ReachabilityStatus.notReachable.isReachable)
        #expect(ReachabilityStatus.reachable(.cellular).isReachable)
    }

    @Test("R-31: a service that is released stops looking")
    func released() async {
        var service: ReachabilityService? = service()
        service?.startMonitoring()
        await clock.waitForSleepers()
        service = nil
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(service == nil)
    }

    @Test("R-32: whoever has a reachability service says so")
    func has() {
        struct Dependencies: HasReachabilityService { let reachabilityService: ReachabilityService }
        let dependencies: any HasReachabilityService = Dependencies(reachabilityService: service())
        #expect(dependencies.reachabilityService.isReachable)
    }

    @Test("Interfaces are told apart by their names; none means not reachable")
    func interfaces() {
        #expect(InterfaceProbe.status(ofInterfacesNamed: []) == .notReachable)
        #expect(InterfaceProbe.status(ofInterfacesNamed: ["wwan0"]) == .reachable(.cellular))
        #expect(InterfaceProbe.status(ofInterfacesNamed: ["wwan0", "eth0"]) == .reachable(.ethernetOrWiFi))
        #expect(InterfaceProbe().glance() != .unknown)
    }
}
