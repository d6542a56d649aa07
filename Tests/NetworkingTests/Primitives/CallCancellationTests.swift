import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Waits that end with their call", .endsInTime)
struct CallCancellationTests {
    /// A policy that gives no permit and waits forever.
    private struct Shut: AdmissionPolicy {
        let hasBegun = Box(false)
        let wasCancelled = Box(false)

        func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? { nil }

        func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
            try await withCallCancellation {
                hasBegun.change { $0 = true }
                for await _ in AsyncStream<Void>.makeStream().stream {}
                wasCancelled.change { $0 = Task.isCancelled }
            }
            return AdmissionPermit()
        }

        func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {}
    }

    @Test(
        "If a call ends, the wait inside a policy ends, and the work of the wait is cancelled", .endsInTime,
        arguments: [NetworkError.Kind.deadlineTimedOut, .resetting, .cancelled])
    func policy(kind: NetworkError.Kind) async throws {
        let clock = ManualClock()
        let shut = Shut()
        let service = NetworkService(environment: Fixture.environment) {
            $0.errorMapping = .unmapped
            $0.transport = StubTransport { _ in .text("x") }
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [shut]
            $0.clock = clock.networkClock
        }
        let settings = RequestSettings { $0.timeouts.total = .seconds(3) }
        let task = service.task(UserEndpoint.open, as: .string, with: settings)
        while !shut.hasBegun.value { await Task.yield() }
        switch kind {
        case .deadlineTimedOut:
            await clock.waitForSleepers()
            clock.advance(by: .seconds(3))
        case .resetting: await service.reset()
        default: #expect(service.cancelAll() == 1)
        }
        #expect((await Fixture.failure { _ = try await task.value } as? NetworkError)?.kind == kind)
        while !shut.wasCancelled.value { await Task.yield() }
    }

    @Test("Outside a call, the result of the work is returned, and cancelling the surrounding task ends the wait")
    func outside() async throws {
        #expect(try await withCallCancellation { 7 } == 7)
        await #expect(throws: UserError.cloudy) { try await withCallCancellation { throw UserError.cloudy } }
        let task = Task {
            try await withCallCancellation { for await _ in AsyncStream<Void>.makeStream().stream {} }
        }
        task.cancel()
        #expect(await Fixture.failure { try await task.value } != nil)
    }

    @Test(
        "A sleep of a huge duration does not end early and does not crash the process",
        arguments: [NetworkClock.continuous, NetworkClock(ContinuousClock(), date: { Date() })])
    func forEver(clock: NetworkClock) async {
        for instant in [Duration.seconds(Int64.max), .seconds(Int64.max / 2), .seconds(1 << 33)] {
            let sleeper = Task { try await clock.sleep(instant) }
            for _ in 0..<100 { await Task.yield() }
            sleeper.cancel()
            #expect(await Fixture.failure { try await sleeper.value } is CancellationError)
        }
    }
}
