import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("The order in which observers get events", .endsInTime)
struct EventDeliveryTests {
    /// Records events, and does something for each of them.
    private final class Probe: RequestObserver {
        private let seen = Locked<[String]>([])
        private let inside = Locked(0)
        private let most = Locked(0)
        private let action: @Sendable (RequestEvent) -> Void

        init(_ action: @escaping @Sendable (RequestEvent) -> Void = { _ in }) { self.action = action }

        var events: [String] { seen.withLock { $0 } }
        /// The most events that were delivered at one time.
        var mostAtOnce: Int { most.withLock { $0 } }

        func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
            let count = inside.withLock { count in
                count += 1
                return count
            }
            most.withLock { $0 = max($0, count) }
            seen.withLock { $0.append("\(event)") }
            action(event)
            inside.withLock { $0 -= 1 }
        }
    }

    private func events(_ probe: Probe) throws -> RequestPipeline.Events {
        let service = NetworkService(environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com"))) {
            $0.transport = StubTransport()
            $0.clock = ManualClock().networkClock
        }
        return try #require(
            RequestPipeline.Events.of(AdHocEndpoint.get("a"), on: service.client, [probe], in: CallScope(deadline: nil))
        )
    }

    private let end = CallReport(of: nil, last: nil, duration: .zero)

    @Test("An event that an observer causes follows the event that it gets")
    func reentrant() throws {
        let events = Locked<RequestPipeline.Events?>(nil)
        let probe = Probe { event in
            if case .started = event { events.withLock { $0 }?.report(.permitAcquired(attempt: 1)) }
        }
        let reporter = try self.events(probe)
        events.withLock { $0 = reporter }
        reporter.report(.started)
        reporter.report(.waiting(.connectivity))
        reporter.finish(end)
        reporter.report(.waiting(.paused))
        #expect(probe.events.map { $0.prefix(7) } == ["started", "permitA", "waiting", "finishe"])
        #expect(probe.mostAtOnce == 1)
        events.withLock { $0 = nil }
    }

    @Test("Events of several threads are delivered one at a time, each once, and the end is the last")
    func threads() throws {
        let probe = Probe()
        let events = try events(probe)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<500 { events.report(.permitAcquired(attempt: thread * 1_000 + number)) }
        }
        events.finish(end)
        #expect(probe.mostAtOnce == 1 && probe.events.count == 8 * 500 + 1)
        #expect(probe.events.last?.hasPrefix("finished") == true)
        for thread in 0..<8 {
            let numbers = probe.events.compactMap { Int($0.dropFirst(15).dropLast()) }.filter { $0 / 1_000 == thread }
            #expect(numbers == (0..<500).map { thread * 1_000 + $0 })
        }
    }

    @Test("The end that is reported while an observer is busy is delivered after its event, and releases the observers")
    func endWhileBusy() throws {
        let (arrived, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        var probe: Probe? = Probe { event in
            guard case .started = event else { return }
            arrived.signal()
            goesOn.wait()
        }
        let isGone = { [weak probe] in probe == nil }
        let events = try events(try #require(probe))
        let thread = DispatchGroup()
        DispatchQueue.global().async(group: thread) { events.report(.started) }
        arrived.wait()
        events.report(.waiting(.connectivity))
        events.finish(end)
        #expect(probe?.events == ["started"])
        goesOn.signal()
        thread.wait()
        #expect(probe?.events.count == 3 && probe?.events.last?.hasPrefix("finished") == true)
        probe = nil
        #expect(isGone())
    }
}
