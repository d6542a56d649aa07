import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Transfers whose results go to an observer", .endsInTime)
struct DuplicateObserverTests {
    private let transport = ManualTransport()
    private let clock = ManualClock()
    private let limit = ConcurrencyLimit()
    private let decisions = Box(0)

    private func begin(_ service: NetworkService) -> RequestTask<String> {
        service.task(.get("search").settings { $0.timeouts.total = .seconds(5) }, as: .string)
    }

    private func isCancelled(_ task: RequestTask<String>) async -> Bool {
        do { _ = try await task.value } catch { return (error as? NetworkError)?.kind == .cancelled }
        return false
    }

    /// Waits until the policy has decided this number of times, and all permits but one are returned.
    private func wait(for count: Int) async {
        while decisions.value < count || limit.activeCount > 1 { await Task.yield() }
    }

    @Test("A reset ends a transfer that goes on for an observer only, which gets no response of the user before")
    func reset() async throws {
        let kinds = Box<[NetworkError.Kind?]>([])
        let service = NetworkService(environment: Fixture.environment) {
            ($0.clock, $0.concurrencyLimit, $0.transport) = (clock.networkClock, limit, transport)
            $0.errorMapping = .unmapped
            $0.duplicates = .always(
                .share(notifying: { result in
                    guard case .failure(let error) = result else { return kinds.change { $0.append(nil) } }
                    kinds.change { $0.append((error as? NetworkError)?.kind) }
                }))
        }
        let first = begin(service)
        await transport.waitForRequests()
        #expect(await isCancelled(begin(service)))
        #expect(await isCancelled(first))
        #expect(kinds.value.isEmpty && limit.activeCount == 1)
        await service.reset()
        #expect(kinds.value == [.resetting])
        while limit.activeCount > 0 || transport.endedCount < 1 { await Task.yield() }
    }

    @Test(
        "A transfer for an observer ends after the total time-out of its request, unless a call has joined it",
        arguments: [false, true])
    func deadline(isJoined: Bool) async throws {
        let kinds = Box<[NetworkError.Kind?]>([])
        let service = NetworkService(environment: Fixture.environment) {
            ($0.clock, $0.concurrencyLimit, $0.transport) = (clock.networkClock, limit, transport)
            $0.errorMapping = .unmapped
            $0.duplicates = DuplicateRequestPolicy { [decisions] _, _ in
                decisions.change { $0 += 1 }
                guard decisions.value == 1 else { return .join }
                return .share(notifying: { result in
                    guard case .failure(let error) = result else { return kinds.change { $0.append(nil) } }
                    kinds.change { $0.append((error as? NetworkError)?.kind) }
                })
            }
        }
        let first = begin(service)
        await transport.waitForRequests()
        clock.advance(by: .seconds(1))
        #expect(await isCancelled(begin(service)))
        #expect(await isCancelled(first))
        clock.advance(by: .seconds(4))
        for _ in 0..<100 { await Task.yield() }
        #expect(kinds.value.isEmpty && limit.activeCount == 1)
        let joining = isJoined ? begin(service) : nil
        await wait(for: isJoined ? 2 : 1)
        clock.advance(by: .seconds(1))
        while kinds.value.isEmpty { await Task.yield() }
        #expect(kinds.value == [.deadlineTimedOut])
        if let joining {
            transport.answer(.ok, "found")
            #expect(try await joining.value == "found")
        }
        while limit.activeCount > 0 { await Task.yield() }
        #expect(transport.count == 1)
    }
}
