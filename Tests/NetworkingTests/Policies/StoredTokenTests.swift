import Foundation
import Testing

@testable import Networking

/// What a store has to be brought, and what a job does in its light: values, without a store.
@Suite("Decisions about a stored token")
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
        return StoredTokenStep(for: job, finding: stored, isUnsaved: isUnsaved, at: now)
    }

    @Test("The token that the store has is refreshed, if it is the one that the process has")
    func same() {
        #expect(step(for: token("a", alice), finding: token("a", alice)) == .refresh(token("a", alice)))
    }

    @Test("A newer token of another process is taken, and refreshed if it has expired")
    func newer() {
        #expect(step(for: token("a", alice), finding: token("b", alice)) == .adopt(token("b", alice)))
        let expired = token("b", alice, expiresIn: -1)
        #expect(step(for: token("a", alice), finding: expired) == .refresh(expired))
    }

    @Test("Another session that has begun in another process is taken, whatever the expiry of its token")
    func otherSession() {
        let expired = token("b", bob, expiresIn: -1)
        #expect(step(for: token("a", alice), finding: expired) == .adopt(expired))
    }

    @Test("A token that is gone from the store was removed by another process, unless it was never saved")
    func gone() {
        #expect(step(for: token("a", alice), finding: nil) == .logOut)
        #expect(step(for: token("a", alice), finding: nil, isUnsaved: true) == .refresh(token("a", alice)))
        #expect(step(for: nil, finding: nil) == .refresh(nil))
    }

    @Test("A token that could not be saved is newer than the stored one")
    func unsaved() {
        #expect(
            step(for: token("b", alice), finding: token("a", alice), isUnsaved: true) == .refresh(token("b", alice)))
    }

    @Test("After the end of a session only another token in the store counts")
    func looking() {
        #expect(step(.look, for: token("a", alice), finding: token("a", alice)) == .remainOver)
        #expect(step(.look, for: token("a", alice), finding: nil) == .remainOver)
        #expect(step(.look, for: token("a", alice), finding: token("b", bob)) == .adopt(token("b", bob)))
        // It is that of a session which has ended here.
        #expect(step(.look, for: token("a", alice), finding: token("b", bob), isUnsaved: true) == .remainOver)
    }

    @Test("A token is saved in place of those that it has displaced and of other sessions, and not of newer ones")
    func saving() {
        let change = StoredTokenChange.save(token("c", alice), over: ["a", "b"], isLogIn: true)
        #expect(change.step(finding: nil) == .write(token("c", alice)))
        #expect(change.step(finding: token("a", alice)) == .write(token("c", alice)))
        #expect(change.step(finding: token("x", bob)) == .write(token("c", alice)))
        #expect(change.step(finding: token("newer", alice)) == .nothing)
    }

    @Test(
        "A token that was rotated does not undo a log-in or a log-out of another process, and is saved if it is the first"
    )
    func rotated() {
        let change = StoredTokenChange.save(token("c", alice), over: ["a"], isLogIn: false)
        #expect(change.step(finding: token("a", alice)) == .write(token("c", alice)))
        #expect(change.step(finding: token("x", bob)) == .nothing)
        #expect(change.step(finding: nil) == .nothing)
        // The first token could not be saved, and neither could those before it.
        let first = StoredTokenChange.save(token("c", alice), over: [nil, "a", "b"], isLogIn: false)
        #expect(first.step(finding: nil) == .write(token("c", alice)))
    }

    @Test("A log-out removes the token of its session, and not that of another one")
    func removing() {
        let change = StoredTokenChange.remove(sessions: [alice])
        #expect(change.step(finding: token("a", alice)) == .write(nil))
        #expect(change.step(finding: token("b", bob)) == .nothing)
        #expect(change.step(finding: nil) == .nothing)
        #expect(StoredTokenChange.remove(sessions: nil).step(finding: token("b", bob)) == .write(nil))
    }
}
