import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Lists of observers and handlers", .endsInTime)
struct RegistrationTests {
    @Test("Releasing an observer, handler or closure does not deadlock if a deinitializer uses the same list or task")
    func lastReferences() async throws {
        // Unchecked, because its variables are set before another thread uses it.
        final class Owner: RequestObserver, ErrorHandler, @unchecked Sendable {
            var token: ObservationToken?
            var task: RequestTask<Void>?

            func observe(_ event: RequestEvent, of call: RequestEvent.Call) {}
            func handle(_ failure: RequestFailure) async -> ErrorHandlingResult { .next(failure.error) }
            deinit {
                token?.cancel()
                _ = task?.state
                _ = task?.progress
            }
        }
        let observers = RequestObservers()
        var observing: ObservationToken?
        do {
            let owner = Owner()
            owner.token = observers.onFinish { _, _ in }
            observing = observers.register(owner)
        }
        observing?.cancel()
        #expect(observers.isEmpty)

        let handlers = ErrorHandlingService([])
        var handling: ObservationToken?
        do {
            let owner = Owner()
            owner.token = handlers.register(Owner())
            handling = handlers.register(owner)
        }
        handling?.cancel()

        let transport = ManualTransport()
        let service = NetworkService(environment: Fixture.environment) { $0.transport = transport }
        let task = service.task(UserEndpoint.open, as: .void)
        do {
            let owner = Owner()
            owner.task = task
            task.onProgress { _ in _ = owner }
            task.onStart { _ = owner }
        }
        await transport.waitForRequests()
        transport.answer()
        try await task.value
    }
}
