import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("A thousand WebSockets", .endsInTime)
struct WebSocketFleetTests {
    @Test(
        "When their server comes back after a minute, at most 50 connect in a second, the last within a minute",
        arguments: [false, true])
    func comesBack(asksForDelay: Bool) async throws {
        let (clock, stub, isUp) = (ManualClock(), StubTransport(), Box(true))
        let connected = Box<[Int]>([])  // the seconds in which sockets connected again
        let drops = Broadcaster(0)
        stub.on(.get, "/v1/chat") { _ in
            guard isUp.value else {
                guard asksForDelay else { throw NetworkError(.cannotConnect) }
                return .status(.serviceUnavailable, headers: ["Retry-After": "60"])
            }
            if clock.now.offset > .zero { connected.change { $0.append(Int(clock.now.offset / .seconds(1))) } }
            return .webSocket { socket in
                let isLost = Settlement<Void>()
                let token = drops.observe(replayingCurrent: false, on: nil) { _ in isLost.settle(.success(())) }
                try await isLost.value()
                token.cancel()
            }
        }
        let (count, random) = (1_000, RandomSource(SeededGenerator(seed: 7)))
        // Each socket is that of another app.
        let sockets = (0..<count).map { _ in
            NetworkService(environment: Fixture.environment) {
                $0.transport = stub
                $0.clock = clock.networkClock
                $0.random = random
            }.webSocket(.get("chat"), .init { $0.pingInterval = nil })
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for socket in sockets { group.addTask { try await socket.connect() } }
            try await group.waitForAll()
        }
        func isSettled() -> Bool { clock.sleeperCount + connected.value.count == count }
        isUp.change { $0 = false }
        drops.publish(1)
        while !isSettled() { await Task.yield() }
        let step = Duration.milliseconds(20)
        while clock.now.offset < .seconds(60) {
            clock.advance(by: step)
            while !isSettled() { await Task.yield() }
        }
        isUp.change { $0 = true }
        while connected.value.count < count, clock.now.offset < .seconds(130) {
            clock.advance(by: step)
            while !isSettled() { await Task.yield() }
        }
        let seconds = Dictionary(grouping: connected.value) { $0 }.mapValues(\.count)
        #expect(connected.value.count == count)
        #expect(try #require(seconds.values.max()) <= 50, "\(seconds.sorted { $0.key < $1.key })")
        #expect(try #require(seconds.keys.max()) < 120)
        for socket in sockets { await socket.close() }
    }
}
