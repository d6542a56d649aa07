import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Reachability on real sockets")
    struct ReachabilitySocketTests {
        @Test("A TCP probe finds a listening server, and notices when it stops and restarts")
        func goesAndComes() async throws {
            let server = try LoopbackServer { _ in .text("hello") }
            let probe = ReachabilityService.TCPConnectionProbe(
                host: "127.0.0.1", port: server.port, timeout: .seconds(1))
            #expect(await probe.status().isReachable)
            server.stop()
            #expect(try await Exchange.eventually { server.openConnections == 0 })
            #expect(await probe.status() == .notReachable)
            try server.restart()
            #expect(await probe.status().isReachable)
        }

        @Test(
            "An invalid host is reported as not reachable, and does not cause a crash",
            arguments: ["", "no such host", "\0", "256.256.256.256", "::::", "http://x", "-"])
        func badHost(host: String) async {
            #expect(
                await ReachabilityService.TCPConnectionProbe(host: host, port: 1, timeout: .seconds(1)).status()
                    == .notReachable)
        }

        @Test("The service publishes a status when the server stops and when it restarts", .row("R-31"))
        func service() async throws {
            let server = try LoopbackServer { _ in .text("hello") }
            let service = ReachabilityService(host: "127.0.0.1", port: server.port, interval: .milliseconds(20))
            service.startMonitoring()
            var statuses = service.statuses.values(replayingCurrent: true).makeAsyncIterator()
            #expect(await statuses.next()?.isReachable == true)
            server.stop()
            #expect(await statuses.next() == .notReachable)
            try server.restart()
            #expect(await statuses.next()?.isReachable == true)
            service.stopMonitoring()
        }
    }
}
