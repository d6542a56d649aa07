import Foundation
import Networking
import NetworkingTesting
import Testing

// snippet.passwordAgain
actor PasswordHandler: ErrorHandler {
    let session: AccessTokenSupervisor
    let askForPassword: @Sendable () async -> AccessToken?
    private var dialog: Task<Bool, Never>?

    init(
        _ session: AccessTokenSupervisor,
        ask: @escaping @Sendable () async -> AccessToken?
    ) {
        (self.session, askForPassword) = (session, ask)
    }

    func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        // Only calls that need the token: the login may be refused, too. Calls
        // that were cancelled or are too late come here as well.
        let isRefused =
            failure.status == .unauthorized
            && failure.adaptedRequest?.headers[.authorization] != nil
        guard session.isOver,
            isRefused || failure.networkError?.kind == .noToken
        else { return .next(failure.error) }
        let dialog = self.dialog ?? open()  // one dialog for all calls
        // The wait ends with the call, but the dialog stays open.
        let isTyped = try? await withCallCancellation { await dialog.value }
        guard isTyped == true else { return .next(failure.error) }
        return .retry(because: "the password was typed again")
    }

    private func open() -> Task<Bool, Never> {
        // Detached, because the dialog does not belong to one of the calls.
        let dialog = Task.detached { await self.ask() }
        self.dialog = dialog
        return dialog
    }

    private func ask() async -> Bool {
        defer { dialog = nil }
        // Another user may have logged in meanwhile.
        guard let token = await askForPassword(), session.isOver
        else { return false }
        session.replace(token)  // the same user: failed calls may go on
        return true
    }
}
// snippet.end

@Suite("Recipe: ask for the password again", .endsInTime)
struct PasswordRecipeTests {
    private let stub = StubTransport { request in
        let token = request.headers[.authorization]
        return token == "Bearer old" || request.url.lastPathComponent == "refused"
            ? .status(.unauthorized) : .json(text: "{}")
    }
    private let session = AccessTokenSupervisor(token: AccessToken("old")) { _ in throw AccessToken.Rejected() }
    private let asked = Box(0)
    private let refused = Box(0)
    private let typed = AsyncStream<AccessToken>.makeStream()

    private func service(_ session: AccessTokenSupervisor, _ handler: PasswordHandler) -> NetworkService {
        NetworkService(environment: Fixture.environment, authorizedBy: session) { [stub, refused] in
            $0.transport = stub
            $0.errorHandlingService = ErrorHandlingService([CountingHandler(count: refused), handler])
        }
    }

    /// Returns a handler whose dialog is open until a token is typed.
    private func makeHandler() -> PasswordHandler {
        PasswordHandler(session) { [asked, typed] in
            asked.change { $0 += 1 }
            return await typed.stream.first { _ in true }
        }
    }

    /// Waits until this number of refused calls waits for the dialog.
    private func waitForCalls(_ count: Int) async {
        while refused.value < count || asked.value == 0 { await Task.yield() }
        for _ in 0..<2_000 { await Task.yield() }
    }

    @Test("The password is asked for once, and all calls of the session are repeated")
    func password() async throws {
        let service = service(session, makeHandler())
        let calls = (0..<5).map { _ in Task { try await service.request(.get("me").authorized()) } }
        await waitForCalls(5)
        let late = Task { try await service.request(.get("me").authorized()) }
        await waitForCalls(6)
        typed.continuation.yield(AccessToken("typed"))
        for call in calls + [late] { try await call.value }
        #expect(asked.value == 1 && !session.isOver)
        #expect(stub.requests.suffix(6).allSatisfy { $0.headers[.authorization] == "Bearer typed" })
    }

    @Test("A call that is cancelled while the dialog is open ends at once, and opens no other dialog")
    func cancelledDialog() async throws {
        let service = service(session, makeHandler())
        let first = Task { try await service.request(.get("me").authorized()) }
        await waitForCalls(1)
        first.cancel()
        await #expect(throws: (any Error).self) { try await first.value }
        let second = Task { try await service.request(.get("me").authorized()) }
        await waitForCalls(3)  // the cancelled call comes to the handlers again
        typed.continuation.yield(AccessToken("typed"))
        try await second.value
        #expect(asked.value == 1)
    }

    @Test("A login that the dialog sends is not refused with another dialog")
    func refusedLogin() async throws {
        let own = Box<NetworkService?>(nil)
        let handler = PasswordHandler(session) { [asked] in
            asked.change { $0 += 1 }
            try? await own.value?.request(.post("refused"))
            return AccessToken("typed")
        }
        let service = service(session, handler)
        own.change { $0 = service }
        try await service.request(.get("me").authorized())
        #expect(asked.value == 1)
        own.change { $0 = nil }
    }

    @Test("A password that is typed after another user has logged in changes nothing")
    func anotherUser() async throws {
        let service = service(session, makeHandler())
        let call = Task { try await service.request(.get("me").authorized()) }
        await waitForCalls(1)
        session.accessToken = AccessToken("of another user")
        typed.continuation.yield(AccessToken("typed"))
        await #expect(throws: (any Error).self) { try await call.value }
        #expect(session.accessToken?.value == "of another user")
    }

    @Test("Without a network, no password is asked for; a dismissed dialog is shown again for the next call")
    func noPassword() async throws {
        let isOffline = Box(true)
        let session = AccessTokenSupervisor(token: AccessToken("old")) { _ in
            if isOffline.value { throw URLError(.notConnectedToInternet) }
            throw AccessToken.Rejected()
        }
        let handler = PasswordHandler(session) { [asked] in
            asked.change { $0 += 1 }
            return nil
        }
        let service = service(session, handler)
        await #expect(throws: GeneralRequestError.self) { try await service.request(.get("me").authorized()) }
        #expect(asked.value == 0 && !session.isOver)
        isOffline.change { $0 = false }
        for _ in 0..<2 {
            await #expect(throws: GeneralRequestError.self) { try await service.request(.get("me").authorized()) }
        }
        #expect(asked.value == 2 && session.isOver)
    }
}

/// Counts the failures that come to the handlers behind it.
private struct CountingHandler: ErrorHandler {
    let count: Box<Int>

    func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        count.change { $0 += 1 }
        return .next(failure.error)
    }
}
