import Foundation
import Networking
import NetworkingInspector
import NetworkingTesting

/// A tour of the library: the typical tasks of an app, step by step.
struct Tour {
    private let backend: Backend
    private let ledger = Ledger()
    private let account: AccountService
    private let session: AccessTokenSupervisor
    private let contacts: ContactService
    /// The recorder of the traffic, for the last step of the tour.
    private let recorder = HARRecorder(limit: 5_000)
    private let recording: ObservationToken
    /// The inspector, whose page shows the calls.
    private let inspector: NetworkInspector
    private let inspecting: ObservationToken

    /// Runs the tour.
    ///
    /// - Returns: Whether every step had the expected result.
    static func play(_ output: Arguments.Output) async throws -> Bool {
        let tour = try Tour()
        if output.page {
            print("the page of the calls: \(tour.inspector.url)")
            fflush(nil)
        }
        let isRight = try await tour.run(writing: output.har)
        if let file = output.html { try await tour.inspector.archive.html().write(to: file) }
        guard output.page else { return isRight }
        print("the page stays until you end the program")
        fflush(nil)
        while true { try await Task.sleep(for: .seconds(3_600)) }
    }

    private func run(writing archive: URL?) async throws -> Bool {
        let tour = self
        print("a server listens on \(tour.backend.server.url); the engine is \(PlatformTransport.shared)")
        try await tour.logIn()
        try await tour.fetch()
        try await tour.chains()
        await tour.ownHandler()
        await tour.ownError()
        try await tour.refusedConnection()
        try await tour.retry()
        await tour.deadline()
        try await tour.expiredToken()
        try await tour.callbacks()
        await tour.cancel()
        try await tour.reachability()
        await tour.logOut()
        try await Traffic(tour.ledger, tour.inspector).play()
        try await Transfers(tour.ledger, tour.inspector).play()
        try await Writes(tour.ledger).play()
        try await Uploads(tour.ledger).play()
        try await Watching(tour.ledger, tour.inspector).play(recorder: tour.recorder, writing: archive)
        return tour.ledger.close(
            refreshes: tour.backend.counts.refreshed,
            expecting: (
                calls: 1_012 + Traffic.expected.calls + Transfers.expected.calls + Watching.expected.calls,
                refreshes: 3,
                failures: 6 + Traffic.expected.failures + Transfers.expected.failures
            ))
    }

    private init() throws {
        backend = try Backend()
        let environment = NetworkEnvironment(baseURL: backend.server.url)
        let inspector = try NetworkInspector(limit: 5_000)
        let account = AccountService(environment: environment) { $0.observers.append(inspector) }
        let session = AccessTokenSupervisor(token: nil) { old in try await account.refresh(old) }
        self.account = account
        self.session = session
        let retry = RetryPolicy(retries: 2, backoff: .constant(.milliseconds(10)))
        contacts = ContactService(environment, session: session, retry: retry)
        recording = contacts.observers.register(recorder)
        self.inspector = inspector
        inspecting = contacts.observers.register(inspector)
        inspector.show(contacts, as: "contacts")
    }

    private func logIn() async throws {
        try await ledger.call { try await account.logIn("ada", password: "correct horse", into: session) }
        ledger.step("logged in; the session has a token", isRight: session.accessToken != nil)
    }

    private func fetch() async throws {
        try await ledger.call { try await contacts.rename(7, to: "Grace") }
        let contact = try await ledger.call { try await contacts.contact(7) }
        ledger.step("renamed and fetched contact 7: \(contact.name)", isRight: contact.name == "Grace")
    }

    /// One call that passes both chains: its token is refused and refreshed, and the call is repeated.
    private func chains() async throws {
        backend.expireToken()
        let response = try await ledger.call {
            try await contacts.response(ContactEndpoint.fetch(id: 7), as: .json(Contact.self))
        }
        let attempts = response.report.attempts
        ledger.step(
            "a call passed the adapters and the handlers twice:\n\(response.report.chains)",
            isRight: attempts.count == 2 && attempts[0].response?.status == .unauthorized
                && attempts.allSatisfy { $0.request?.headers["X-App-Version"] == "3.1" })
    }

    private func ownHandler() async {
        let error = await ledger.failure("a subscription is required") { try await contacts.export() }
        ledger.step(
            "the app's handler ended a call: \(text(error))",
            isRight: error as? ContactError == .subscriptionRequired)
    }

    private func ownError() async {
        let error = await ledger.failure("no such contact") { try await contacts.contact(99_999) }
        ledger.step("a 404 becomes the endpoint's own error: \(text(error))", isRight: error is ContactError)
    }

    private func refusedConnection() async throws {
        backend.server.stop()
        let error = await ledger.failure("a refused connection") { try await contacts.contact(7) }
        ledger.step(
            "a refused connection becomes a general error after two retries: \(text(error))",
            isRight: error as? GeneralRequestError == .cannotConnect)
        try backend.server.restart()
    }

    private func retry() async throws {
        let text = try await ledger.call { try await contacts.flaky() }
        ledger.step("a 503 is retried: \(text)", isRight: text == "available again")
    }

    private func deadline() async {
        let error = await ledger.failure("a deadline") { try await contacts.slow() }
        ledger.step(
            "a slow call ends at its deadline: \(text(error))", isRight: error as? GeneralRequestError == .timedOut)
    }

    private func expiredToken() async throws {
        backend.expireToken()
        let before = backend.counts
        let right = await withTaskGroup(of: Bool.self) { group in
            for id in 0..<1_000 {
                group.addTask { (try? await ledger.call { try await contacts.contact(id) })?.id == id }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        let refused = backend.counts.refused - before.refused
        let refreshes = backend.counts.refreshed - before.refreshed
        ledger.step(
            "1,000 calls with an expired token: \(right) succeeded, \(refreshes) refresh, \(refused) refused",
            isRight: right == 1_000 && refreshes == 1 && refused <= 64)
    }

    private func callbacks() async throws {
        let name = try await ledger.call {
            try await withCheckedThrowingContinuation { continuation in
                contacts.request(
                    for: ContactEndpoint.fetch(id: 8),
                    success: { (contact: Contact) in continuation.resume(returning: contact.name) },
                    failure: { continuation.resume(throwing: $0) })
            }
        }
        ledger.step("a call with callbacks, on the main queue: \(name)", isRight: name == "Contact 8")
    }

    private func cancel() async {
        let task = contacts.task(ContactEndpoint.slow, as: .string)
        let (first, second) = (task.cancel(), task.cancel())
        let error = await ledger.failure("cancelled") { try await task.value }
        ledger.step(
            "cancelled: \(first), again: \(second), ended with: \(text(error))",
            isRight: first && !second && error as? GeneralRequestError == .cancelled)
    }

    private func reachability() async throws {
        let reachability = ReachabilityService(
            host: "127.0.0.1", port: backend.server.port, interval: .milliseconds(20))
        let (changes, change) = AsyncStream.makeStream(of: ReachabilityStatus.self)
        // The service checks the connectivity while it is observed, and calls the closure on the main actor.
        let token = reachability.statuses.observe(replayingCurrent: true) { status in
            print("    connectivity callback: \(status.isReachable ? "online" : "offline")")
            change.yield(status)
        }
        var statuses = changes.makeAsyncIterator()
        let there = await statuses.next()
        backend.server.stop()
        let away = await statuses.next()
        try backend.server.restart()
        let back = await statuses.next()
        token.cancel()
        ledger.step(
            "a callback told that the server was up, then down, then up again",
            isRight: there?.isReachable == true && away == .notReachable && back?.isReachable == true)
    }

    private func logOut() async {
        backend.expireToken(refreshPause: .milliseconds(300))
        let call = contacts.task(ContactEndpoint.fetch(id: 9), as: .json(Contact.self))
        while backend.counts.refreshed < 3 { try? await Task.sleep(for: .milliseconds(1)) }
        session.accessToken = nil
        let error = await ledger.failure("logged out meanwhile") { try await call.value }
        ledger.step(
            "logged out during a refresh: the call ended with \(text(error)), the new token is discarded",
            isRight: error as? GeneralRequestError == .noAuth && session.accessToken == nil)
    }

    private func text(_ error: (any Error)?) -> String {
        error.map { "\($0)" } ?? "no error"
    }
}
