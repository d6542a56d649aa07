import Foundation
import Testing

@testable import Networking

/// Tests the decisions about a stored token as values, without a store.
@Suite("Decisions about a stored token", .endsInTime)
struct StoredTokenTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)
    private let alice = UUID()
    private let bob = UUID()

    private func token(_ value: String, _ session: UUID, expiresIn life: Double? = nil) -> AccessToken {
        AccessToken(value, expiresAt: life.map { now + $0 }, session: session)
    }

    private func step(
        _ kind: AccessTokenMachine.Job.Kind = .refresh, for held: AccessToken?, finding stored: AccessToken?,
        isUnsaved: Bool = false
    ) -> StoredTokenStep {
        let job = AccessTokenMachine.Job(
            id: 1, kind: kind, token: held, generation: 0, session: held?.session ?? alice)
        return job.step(finding: stored, isUnsaved: isUnsaved, at: now)
    }

    @Test("Each property of a token is stored")
    func properties() throws {
        let token = AccessToken(
            "a", expiresAt: now, refreshToken: "r", session: alice, scheme: .init(scheme: "DPoP"),
            userInfo: ["tenant": "1"])
        let stored = try JSONDecoder().decode(AccessToken.self, from: JSONEncoder().encode(token))
        #expect(stored == token)
        #expect(stored.session == alice)  // `==` does not compare it
    }

    @Test("The stored token is refreshed if it is also the token in this process")
    func same() {
        #expect(step(for: token("a", alice), finding: token("a", alice)) == .refresh(token("a", alice)))
    }

    @Test("A newer token of another process is used, and is refreshed if it has expired")
    func newer() {
        #expect(step(for: token("a", alice), finding: token("b", alice)) == .adopt(token("b", alice)))
        let expired = token("b", alice, expiresIn: -1)
        #expect(step(for: token("a", alice), finding: expired) == .refresh(expired))
    }

    @Test("A session that another process has started is adopted, even if its token has expired")
    func otherSession() {
        let expired = token("b", bob, expiresIn: -1)
        #expect(step(for: token("a", alice), finding: expired) == .adopt(expired))
    }

    @Test("A token that is missing in the store was removed by another process, unless it was never saved")
    func gone() {
        #expect(step(for: token("a", alice), finding: nil) == .logOut)
        #expect(step(for: token("a", alice), finding: nil, isUnsaved: true) == .refresh(token("a", alice)))
        #expect(step(for: nil, finding: nil) == .refresh(nil))
    }

    @Test("A token that could not be saved is newer than the stored token")
    func unsaved() {
        #expect(
            step(for: token("b", alice), finding: token("a", alice), isUnsaved: true) == .refresh(token("b", alice)))
    }

    @Test("After the end of a session, a stored token is used only if it is a different token")
    func looking() {
        #expect(step(.look, for: token("a", alice), finding: token("a", alice)) == .remainOver)
        #expect(step(.look, for: token("a", alice), finding: nil) == .remainOver)
        #expect(step(.look, for: token("a", alice), finding: token("b", bob)) == .adopt(token("b", bob)))
        // The stored token belongs to a session that has ended in this process.
        #expect(step(.look, for: token("a", alice), finding: token("b", bob), isUnsaved: true) == .remainOver)
    }

    @Test(
        "A token replaces older tokens and tokens of other sessions in the store, but not newer tokens of its session")
    func saving() {
        let change = StoredTokenChange.save(token("c", alice), over: ["a", "b"], isLogIn: true)
        #expect(change.step(finding: nil) == .write(token("c", alice)))
        #expect(change.step(finding: token("a", alice)) == .write(token("c", alice)))
        #expect(change.step(finding: token("x", bob)) == .write(token("c", alice)))
        #expect(change.step(finding: token("newer", alice)) == .nothing)
    }

    @Test(
        "A rotated token does not undo another process's log-in or log-out; it is saved if no earlier token was saved")
    func rotated() {
        let change = StoredTokenChange.save(token("c", alice), over: ["a"], isLogIn: false)
        #expect(change.step(finding: token("a", alice)) == .write(token("c", alice)))
        #expect(change.step(finding: token("x", bob)) == .nothing)
        #expect(change.step(finding: nil) == .nothing)
        // None of the earlier tokens could be saved, so the store is still empty.
        let first = StoredTokenChange.save(token("c", alice), over: [nil, "a", "b"], isLogIn: false)
        #expect(first.step(finding: nil) == .write(token("c", alice)))
    }

    @Test("A log-out removes the token of its session, not the token of another session")
    func removing() {
        let change = StoredTokenChange.remove(sessions: [alice])
        #expect(change.step(finding: token("a", alice)) == .write(nil))
        #expect(change.step(finding: token("b", bob)) == .nothing)
        #expect(change.step(finding: nil) == .nothing)
        #expect(StoredTokenChange.remove(sessions: nil).step(finding: token("b", bob)) == .write(nil))
    }

    @Test("What is not a token is removed by any log-out, and is replaced where an empty store is written")
    func undecodable() {
        for sessions in [nil, [], [alice]] as [Set<UUID>?] {
            #expect(StoredTokenChange.remove(sessions: sessions).step(finding: nil, isUndecodable: true) == .write(nil))
        }
        let logIn = StoredTokenChange.save(token("c", alice), over: ["a"], isLogIn: true)
        #expect(logIn.step(finding: nil, isUndecodable: true) == .write(token("c", alice)))
        let rotated = StoredTokenChange.save(token("c", alice), over: ["a"], isLogIn: false)
        #expect(rotated.step(finding: nil, isUndecodable: true) == .nothing)
    }
}
