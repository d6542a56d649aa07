// The rules about calls.
extension TokenRules {
    /// A call begins in the current session.
    mutating func begin(_ index: Int, isOptional: Bool) {
        let call = calls[index]
        calls[index] = Call(isOptional: isOptional, taken: call.taken, changesSinceTaken: call.changesSinceTaken)
    }

    mutating func end(_ index: Int) { calls[index] = Call() }

    /// A call may be sent.
    ///
    /// - Parameters:
    ///   - isStoreRead: Whether the store has been read.
    ///   - runs: Whether a refresh runs.
    ///   - token: The current token.
    ///   - hasExpired: Whether the current token has expired.
    mutating func admit(_ index: Int, isStoreRead: Bool, runs: Bool, token: String?, hasExpired: Bool) {
        let call = calls[index]
        guard call.isOfSession || !call.isOptional else { return }  // it will carry no token
        expect(isStoreRead, "rule 12: nothing is sent before the store has been read")
        expect(!runs, "rule 4: nothing is sent while a refresh runs")
        expect(call.isOfSession, "rule 11: no call of another session is admitted")
        if form == .fetchesFirst {
            expect(token != nil || wasSet, "rule 15: nothing is sent before the first token has been fetched")
        }
        guard let token, !call.isOptional || over != token else { return }
        expect(over != token, "rule 7: nothing is sent with a token whose session is over")
        expect(
            !hasExpired || isUntried || isWrongClock || form == .fixed,
            "rule 5: a token that has expired is refreshed before sending")
    }

    /// A call is sent.
    ///
    /// - Parameters:
    ///   - token: The token that the call carries.
    ///   - current: The current token.
    mutating func send(_ index: Int, with token: String?, whileCurrentIs current: String?) {
        let call = calls[index]
        let isEnded = !call.isOfSession || current == nil || over == current
        if call.isOptional, isEnded {
            expect(token == nil, "rule 10: a call whose token is optional carries none after the end of its session")
        } else {
            expect(call.isOfSession, "rule 11: a call is sent with tokens of the session in which it began")
            expect(token == current, "rule 10: a call carries the current token, if there is one")
        }
        carry(token == nil ? .none : .current, by: index)
    }

    private mutating func carry(_ token: Carried, by index: Int) {
        calls[index].carried = token
        (calls[index].hasFailureSince, calls[index].wasCurrent, calls[index].isReplacedByRefresh) = (
            false, false, false
        )
    }

    /// The app takes the current token, and will add it to a call.
    mutating func take(_ index: Int) {
        (calls[index].taken, calls[index].changesSinceTaken) = (.current, 0)
    }

    /// A call is sent with the token that the app has taken.
    ///
    /// - Parameter isKnown: Whether the session knows the token.
    mutating func sendTaken(_ index: Int, isKnown: Bool) {
        let call = calls[index]
        let isRecent = call.taken != .none && call.changesSinceTaken < 2
        expect(isKnown == isRecent, "rule 3: the current token and the one before it are known if the app adds them")
        expect(
            call.isOfSession || !isRecent, "rule 11: a call is not sent with a token of another session, if it is known"
        )
        carry(isKnown ? call.taken : .none, by: index)
        calls[index].taken = .none
        calls[index].changesSinceTaken = 0
    }

    /// The server has accepted the token of a call.
    mutating func accept(_ index: Int, at endpoint: Int) {
        guard calls[index].carried == .current else { return }
        isUntried = false
        refusing.remove(endpoint)
    }

    /// The refusal of a call has become known.
    mutating func refuse(_ index: Int, at endpoint: Int) {
        calls[index].wasCurrent = calls[index].carried == .current
        guard calls[index].wasCurrent else { return }
        (isUntried, isWrongClock) = (false, false)
        if calls[index].refreshed == .current { refusing.insert(endpoint) }
    }

    /// A refused call has passed the preceding error handlers, and reaches the session's handler.
    mutating func arrive(_ index: Int, at endpoint: Int, _ arrival: Arrival) {
        let call = calls[index]
        let isFresh = call.refreshed == .current || call.refreshed == .older || refusing.contains(endpoint)
        switch (call.carried, arrival) {
        case _ where !call.isOfSession || call.carried == .foreign:
            if case .ends = arrival { return }
            expect(false, "rule 11: a refused call of another session, or with its token, ends")
        case (.older, .again(let refreshed)) where hasToken:
            expect(
                refreshed == (call.wasCurrent && call.isReplacedByRefresh),
                "rule 3: a repeat counts as after a refresh if a refresh has replaced the refused token since the head")
        case (.older, _) where hasToken:
            expect(false, "rule 2: a call whose older token was refused is repeated with the current token")
        case (.current, .ends):
            expect(
                call.hasFailureSince || isFresh || over != nil || form == .fixed,
                "rule 3: a refusal of the current token that reaches the handler has its refresh")
        case (.current, .waits):
            expect(!isFresh, "rule 3: a call ends when the token of its own refresh is refused")
            expect(!call.hasFailureSince, "rule 3: a call refused before a failed refresh ends with its reason")
        case (.current, .again):
            expect(false, "rule 3: a call whose current token was refused is not repeated with it")
        default: break
        }
    }

    /// A refused call is repeated.
    ///
    /// - Parameter refreshed: Whether this counts as the repeat after a refresh.
    mutating func repeatCall(_ index: Int, refreshed: Bool) {
        if refreshed {
            expect(!calls[index].isRepeatedAfterRefresh, "rule 3: a call is repeated once after a refresh")
            calls[index].isRepeatedAfterRefresh = true
            calls[index].refreshed = .current
        } else {
            expect(!calls[index].isRepeatedWithNewer, "rule 3: a call is repeated once with a newer token")
            calls[index].isRepeatedWithNewer = true
        }
        calls[index].carried = .none
    }

    mutating func retry(_ index: Int) {
        calls[index].ownRetries += 1
        calls[index].carried = .none
    }

    mutating func wait(_ index: Int) {
        (calls[index].isWaiting, calls[index].hasSeenChange) = (true, false)
        (calls[index].hasSeenRefresh, calls[index].hasSeenFailure) = (false, false)
    }

    /// A caller that has asked for a token other than the current one stops waiting, without an error.
    mutating func answerAsker(_ index: Int) {
        expect(
            calls[index].hasSeenChange,
            "rule 14: a caller that demands a refresh gets another token than the current one")
    }

    /// A call ends before it is sent.
    mutating func close(_ index: Int) {
        expect(!calls[index].isOptional, TokenRules.optionalEnds)
        expect(!calls[index].isOfSession || over != nil, "rule 11: a call of the current session is not ended unsent")
    }

    private static let optionalEnds =
        "rule 10: a call whose token is optional does not end because nobody is logged in"

    /// The wait of a call that was not sent ends with an error.
    mutating func fail(_ index: Int) {
        let call = calls[index]
        expect(!call.isOptional || call.isOfSession && (over == nil || hasStore), TokenRules.optionalEnds)
        expect(
            !call.isOfSession || over != nil || call.hasSeenFailure,
            "rule 11: a waiting call of the current session ends only after a failure")
    }

    /// The wait of a call is over.
    ///
    /// - Parameter refreshed: Whether the call now counts as refreshed.
    mutating func release(_ index: Int, refreshed: Bool, isRefused: Bool) {
        expect(
            !refreshed || calls[index].hasSeenRefresh,
            "rule 3: a call counts as refreshed only if it waited through a refresh that brought a token")
        calls[index].isWaiting = false
        if !isRefused, refreshed {
            calls[index].refreshed = .current
            calls[index].isRepeatedAfterRefresh = true
        }
    }

    /// A call stops waiting.
    ///
    /// - Parameter isUnchanged: Whether the same refreshes run as before.
    mutating func leave(_ index: Int, isUnchanged: Bool) {
        calls[index] = Call()
        expect(isUnchanged, "rule 6: a leaving call does not stop the refresh")
    }
}
