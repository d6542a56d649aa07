import Foundation

// The rules about results, waiting and the store.
extension TokenRules {
    /// A rejected refresh of the current token has ended.
    mutating func reject(isOver: Bool) {
        expect(isOver, "rule 7: a rejected refresh ends the session")
    }

    /// The result of a refresh has arrived for the token that is still current.
    mutating func succeed(isAdopted: Bool) {
        expect(isAdopted, "rule 8: the result of a refresh is adopted, even if late")
    }

    /// The result of a refresh has arrived for a token that was replaced.
    mutating func succeedLate(isUnchanged: Bool) {
        expect(isUnchanged, "rule 8: a result for a replaced token is ignored")
    }

    mutating func passLimit(hasWaiters: Bool) {
        expect(!hasWaiters, "rule 1: the waiters fail when the time limit has passed")
    }

    /// The app has set a token.
    mutating func set(isCurrent: Bool) {
        expect(isCurrent, "rule 8: a token that the app sets becomes the current token")
    }

    /// The app has replaced the token.
    mutating func replace(isCurrent: Bool, isSameSession: Bool) {
        expect(isCurrent && isSameSession, "rule 11: a token rotated elsewhere keeps the session")
    }

    /// A refresh token is sent to the server.
    mutating func spend(isSpent: Bool) {
        expect(!isSpent, "rule 12: no refresh token is used twice")
    }

    mutating func continueWaiting(_ isWaiting: Bool) {
        expect(isWaiting, "rule 7: only waiters are released or fail")
    }

    /// Checks the state after a move.
    mutating func check(waitersAgree: [Bool], runs: Bool?, tokenSession: (UUID?, UUID)?) {
        for agrees in waitersAgree { expect(agrees, "rule 7: the calls that wait are those that are released") }
        if let runs { expect(runs, "rule 7: a refresh with waiters is running") }
        if let (token, session) = tokenSession { expect(token == session, "rule 11: a token has its session's id") }
    }

    mutating func checkToken(isLatest: Bool) {
        expect(isLatest, "rule 8: the current token is the one that came last")
    }

    mutating func checkStore(isKept: Bool) {
        expect(isKept, "rule 12: a token that counts as saved is in the store")
    }

    mutating func checkLogOut(holdsEnded: Bool) {
        expect(!holdsEnded, "rule 12: a log-out removes the token of the store")
    }

    /// The store is written.
    mutating func write(isOlder: Bool) {
        expect(!isOlder, "rule 12: the store's newer token is not replaced by an older one")
    }

    /// While nothing else happens, this process finds content of the store that another process has written.
    mutating func find(isCurrent: Bool) {
        expect(isCurrent, "rule 12: what another process has written to the store is taken over when it is found")
    }

    /// The content of the store was taken over.
    mutating func takeOver(isCurrent: Bool, isForeign: Bool) {
        expect(isCurrent, "rule 12: a read is ignored if the current token has changed since")
        expect(isForeign, "rule 12: the store's content is taken over only if another process wrote it")
    }
}
