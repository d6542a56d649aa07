import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Reachability", .endsInTime)
struct ReachabilityTests {
    private let clock = ManualClock()
    private let probe = StubProbe(.reachable(.ethernetOrWiFi))

    private func service() -> ReachabilityService {
        ReachabilityService(probe: probe, interval: .seconds(5), clock: clock.networkClock)
    }

    @Test(
        "After the start, the first status is reported; later, only changes are reported; stopping ends the reports",
        .row("R-31"))
    func changes() async throws {
        let service = service()
        let told = Box<[ReachabilityStatus]>([])
        let token = service.statuses.observe(on: nil) { status in told.change { $0.append(status) } }
        #expect(service.status == .unknown)
        service.startMonitoring()
        service.startMonitoring()
        for status in [
            ReachabilityStatus.reachable(.ethernetOrWiFi), .notReachable, .notReachable, .reachable(.cellular),
        ] {
            while service.status == .unknown { await Task.yield() }
            let looks = probe.count
            probe.set(status)
            try await clock.advance(by: .milliseconds(100), until: { [probe] in probe.count > looks })
        }
        while told.value.count < 3 { await Task.yield() }
        #expect(probe.count == 5)
        #expect(told.value == [.reachable(.ethernetOrWiFi), .notReachable, .reachable(.cellular)])
        service.stopMonitoring()
        while clock.sleeperCount > 0 { await Task.yield() }
        token.cancel()
    }

    @Test("`isReachable` works before monitoring; it is false for `unknown` and `notReachable`", .row("R-31", "R-32"))
    func before() {
        #expect(service().isReachable)
        probe.set(.notReachable)
        #expect(!service().isReachable)
        #expect(!ReachabilityStatus.unknown.isReachable && !ReachabilityStatus.notReachable.isReachable)
        #expect(ReachabilityStatus.reachable(.cellular).isReachable)
    }

    @Test("A service that is released stops its probes", .row("R-31"))
    func released() async {
        var service: ReachabilityService? = service()
        service?.startMonitoring()
        await clock.waitForSleepers()
        service = nil
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(service == nil)
    }

    @Test("A token of an observation retains the service; the service is released with the token")
    func retained() async {
        var service: ReachabilityService? = service()
        let isReleased = { [weak service] in service == nil }
        let statuses = Box<[ReachabilityStatus]>([])
        let token = service?.statuses.observe(on: nil) { status in statuses.change { $0.append(status) } }
        service = nil
        await clock.waitForSleepers()
        #expect(!isReleased() && !statuses.value.isEmpty)
        token?.cancel()
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(isReleased())
    }

    @Test(
        "Five observers each get three changes in order; a sixth observer with a replay also gets the current status",
        .row("R-31"))
    func fifteen() async {
        let service = service()
        await service.check()
        let told = Box<[(observer: Int, status: ReachabilityStatus)]>([])
        let tokens = (0..<5).map { observer in
            service.statuses.observe(on: nil) { status in told.change { $0.append((observer, status)) } }
        }
        let late = Box<[ReachabilityStatus]>([])
        let lateToken = service.statuses.observe(replayingCurrent: true, on: nil) { status in
            late.change { $0.append(status) }
        }
        let changes: [ReachabilityStatus] = [.notReachable, .reachable(.cellular), .reachable(.wireless)]
        for status in changes {
            probe.set(status)
            await service.check()
            await service.check()
        }
        #expect(told.value.count == 15)
        #expect(told.value.map(\.status) == changes.flatMap { Array(repeating: $0, count: 5) })
        #expect(told.value.map(\.observer) == Array(repeating: [0, 1, 2, 3, 4], count: 3).flatMap { $0 })
        #expect(late.value == [.reachable(.ethernetOrWiFi)] + changes)
        withExtendedLifetime((tokens, lateToken)) {}
    }

    @Test("While the network is down, the probe runs more often; it also runs at once if it signals a change")
    func pace() async throws {
        let probe = WakingProbe()
        let service = ReachabilityService(
            probe: probe, interval: .seconds(5), intervalWhileDown: .seconds(1), clock: clock.networkClock)
        service.startMonitoring()
        while service.status == .unknown { await Task.yield() }
        clock.advance(by: .milliseconds(999))
        #expect(probe.stub.count == 1)
        try await clock.advance(by: .milliseconds(100), until: { probe.stub.count == 2 })
        probe.stub.set(.reachable(.wired))
        probe.wake()
        while service.status != .reachable(.wired) { await Task.yield() }
        #expect(probe.stub.count == 3)
        clock.advance(by: .seconds(4))
        for _ in 0..<20 { await Task.yield() }
        #expect(probe.stub.count == 3)
        try await clock.advance(by: .seconds(1), until: { probe.stub.count == 4 })
        service.stopMonitoring()
    }

    @Test(
        "A wait checks the network at once; it ends when the network is up, the limit passes or the task is cancelled")
    func waiting() async throws {
        let service = service()
        #expect(try await service.waitUntilReachable())
        while clock.sleeperCount > 0 { await Task.yield() }
        let looks = probe.count
        probe.set(.notReachable)
        async let comes = service.waitUntilReachable()
        while probe.count < looks + 1 { await Task.yield() }
        probe.set(.reachable(.wireless))
        try await clock.advance(by: .seconds(1), until: { service.status == .reachable(.wireless) })
        #expect(try await comes)
        while clock.sleeperCount > 0 { await Task.yield() }
        probe.set(.captivePortal)
        let isOver = Box(false)
        let gone = Task {
            defer { isOver.change { $0 = true } }
            return try await service.waitUntilReachable(atMost: .milliseconds(500))
        }
        try await clock.advance(by: .milliseconds(500), until: { isOver.value })
        #expect(try await !gone.value)
        while clock.sleeperCount > 0 { await Task.yield() }
        let cancelled = Task { try await service.waitUntilReachable() }
        await clock.waitForSleepers()
        cancelled.cancel()
        await #expect(throws: (any Error).self) { try await cancelled.value }
        while clock.sleeperCount > 0 { await Task.yield() }
    }

    @Test("A probe that hangs is abandoned after its time limit; the next probe starts, and the waiters continue")
    func hangingLook() async throws {
        final class HangingProbe: ReachabilityProbe {
            let count = Box(0)
            func status() async -> ReachabilityStatus {
                count.change { $0 += 1 }
                if count.value == 1 { await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in } }
                return .reachable(.wired)
            }
            func quickStatus() -> ReachabilityStatus { .unknown }
        }
        let probe = HangingProbe()
        let time = clock.networkClock
        let service = ReachabilityService(probe: probe, clock: time)
        service.startMonitoring()
        while probe.count.value == 0 { await Task.yield() }
        let check = Task { await service.check() }
        try await clock.advance(by: .seconds(1), until: { service.status == .reachable(.wired) })
        _ = await check.value
        #expect(time.now() >= .seconds(30))
        #expect(await service.check() == .reachable(.wired))
        service.stopMonitoring()
    }

    @Test("The status comes from the default route's interface or, without a default route, from the best interface")
    func interfaces() {
        func status(_ names: [String], _ leading: [String] = []) -> ReachabilityStatus {
            ReachabilityService.InterfaceProbe.status(ofInterfacesNamed: names, leadingFirst: leading) { name in
                name.hasPrefix("wwan") ? .cellular : name.hasPrefix("wl") ? .wireless : .wired
            }
        }
        #expect(status([]) == .notReachable)
        #expect(status([], ["eth0"]) == .notReachable)
        #expect(status(["wwan0"]) == .reachable(.cellular))
        #expect(status(["wwan0", "eth0"]) == .reachable(.wired))
        #expect(status(["wwan0", "eth0"], ["wwan0"]) == .reachable(.cellular))
        #expect(status(["eth0", "wlan0"], ["tun0", "wlan0", "eth0"]) == .reachable(.wireless))
        #expect(ReachabilityService.InterfaceProbe().quickStatus() != .unknown)
    }

    @Test("Linux: default routes are ordered by metric; routes that reject packets or lead to one network are ignored")
    func routes() {
        let ipv4 = """
            Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
            wwan0\t00000000\t010200C0\t0003\t0\t0\t700\t00000000\t0\t0\t0
            wlan0\t00000000\t010200C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
            eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
            """
        let zero = String(repeating: "0", count: 32)
        let ipv6 = """
            \(zero) 00 \(zero) 00 fd000000000000000000000000000001 00000400 00000003 00000000 00000003     eth1
            \(zero) 00 \(zero) 00 \(zero) ffffffff 00000001 00000000 00200200       lo
            fe80\(zero.dropFirst(4)) 40 \(zero) 00 \(zero) 00000100 00000001 00000000 00000001     eth2
            """
        #expect(RoutingTable(ipv4: ipv4, ipv6: ipv6).defaultInterfaces == ["wlan0", "wwan0", "eth1"])
        #expect(RoutingTable(ipv4: "", ipv6: "nonsense\n1 2 3").defaultInterfaces == [])
    }

    #if os(Linux)
        @Test(
            "Linux: device files distinguish wired, Wi-Fi and modem interfaces; without device files, the name decides")
        func kinds() throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("net-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            func make(_ name: String, _ entries: [String], uevent: String = "") throws {
                let device = folder.appendingPathComponent(name)
                for entry in entries + ["."] {
                    try FileManager.default.createDirectory(
                        at: device.appendingPathComponent(entry), withIntermediateDirectories: true)
                }
                try Data(uevent.utf8).write(to: device.appendingPathComponent("uevent"))
            }
            try make("a0", ["device"])
            try make("b0", ["device", "wireless"])
            try make("c0", ["device"], uevent: "DEVTYPE=wwan\nINTERFACE=c0\n")
            try make("d0", ["device"], uevent: "DEVTYPE=wlan\n")
            try make("veth1", [])
            let kinds = ["a0", "b0", "c0", "d0", "veth1", "wwan9"].map { NetworkInterface.kind(of: $0, in: folder) }
            #expect(kinds == [.wired, .wireless, .cellular, .wireless, .ethernetOrWiFi, .cellular])
        }
    #endif

    @Test(
        "An HTTP probe distinguishes the expected server, a captive portal and an unreachable server",
        arguments: [
            (StubResponse.status(.noContent), true, false), (.status(.internalServerError), true, false),
            (.status(.ok), false, true), (.status(.found), false, true),
            (.status(.networkAuthenticationRequired), false, true), (.failure(.tlsUntrusted), false, true),
            (.failure(.cannotConnect), false, false), (.failure(.notConnected), false, false),
        ])
    func portal(answer: StubResponse, isReachable: Bool, isPortal: Bool) async throws {
        let url = try #require(URL(string: "http://probe.example/204"))
        let status = await ReachabilityService.HTTPProbe(url: url, transport: StubTransport { _ in answer }).status()
        #expect(status.isReachable == isReachable && (status == .captivePortal) == isPortal)
    }
}

/// A probe that reports changes.
private final class WakingProbe: ReachabilityProbe {
    let stub = StubProbe(.notReachable)
    private let action = Box<@Sendable () -> Void>({})

    func status() async -> ReachabilityStatus { await stub.status() }
    func quickStatus() -> ReachabilityStatus { stub.quickStatus() }
    func onChange(_ wake: @escaping @Sendable () -> Void) { action.change { $0 = wake } }
    func wake() { action.value() }
}
