/// The rules of a session (DESIGN 9), in terms of what can be observed from outside: which token a call carries, what
/// the server, the app and other processes do, and what follows from that. The rules record these facts independently
/// of the machine that they check.
struct TokenRules: Sendable {
    /// What has made a token the current one.
    enum Source: Sendable {
        case refresh, app, store
    }

    /// What is happening while a refresh begins.
    enum Cause: Sendable {
        /// A call is asking to be sent, a refresh ends, or the app or the store changes the token.
        case other
        /// The refusal of a call has just become known.
        case head(Int)
        /// A call has passed the preceding error handlers, and reaches the session's handler.
        case arrival(Int)
    }

    /// How the token that a request carries relates to the current token.
    enum Carried: UInt8, Sendable {
        case none, current, older
        /// A token of an ended session.
        case foreign

        /// The current token changes.
        mutating func age(beginsSession: Bool) {
            if self == .current || self == .older { self = beginsSession ? .foreign : .older }
        }
    }

    /// Whether a call has waited for a refresh that brought a token, and whether that token is still the current one.
    enum Refreshed: UInt8, Sendable {
        case no
        /// Its token is still the current one.
        case current
        /// Another refresh has replaced its token.
        case older
        /// The app or the store has set a token since.
        case overtaken
    }

    /// How a session gets its tokens.
    enum Form: Sendable {
        case renewable, fetchesFirst, fixed
    }

    /// What happens to a call that has reached the session's handler.
    enum Arrival: Sendable {
        case again(refreshed: Bool)
        case waits, ends
    }

    /// The facts about one call.
    struct Call: Sendable {
        /// Whether the call is sent without a token if there is none.
        var isOptional = false
        /// Whether the session in which the call began is the current one.
        var isOfSession = true
        var carried = Carried.none
        /// The token that the app has taken from the session for the call, and how often the token has changed since.
        var taken = Carried.none
        var changesSinceTaken = 0
        /// Whether a refresh of the token that the call carries has failed since the call was sent.
        var hasFailureSince = false
        /// Whether the refused token was the current one when the refusal became known.
        var wasCurrent = false
        /// Whether the refused token was current when its refusal became known, and a refresh has brought the latest
        /// token since then.
        var isReplacedByRefresh = false
        var isWaiting = false
        /// Whether, while the call waited, the token has changed, a refresh has brought a token, or a refresh has
        /// failed.
        var hasSeenChange = false
        var hasSeenRefresh = false
        var hasSeenFailure = false
        var refreshed = Refreshed.no
        var isRepeatedWithNewer = false
        var isRepeatedAfterRefresh = false
        var ownRetries = 0

        var bytes: [UInt8] {
            let flags = [
                isOfSession, hasFailureSince, wasCurrent, isReplacedByRefresh, isWaiting, hasSeenRefresh,
                isRepeatedWithNewer, isRepeatedAfterRefresh,
            ]
            let mask = flags.enumerated().reduce(UInt8(0)) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) }
            return [
                mask, carried.rawValue, refreshed.rawValue, UInt8(ownRetries),
                (hasSeenFailure ? 1 : 0) + (hasSeenChange ? 2 : 0) + (taken.rawValue << 2)
                    + UInt8(changesSinceTaken) << 4,
            ]
        }
    }

    let form: Form
    let hasStore: Bool
    var calls: [Call]
    var cause = Cause.other
    /// The endpoints that have refused the current token immediately after the refresh that brought this token.
    var refusing: Set<Int> = []
    var hasToken: Bool
    /// Whether a token has ever been set or removed.
    var wasSet: Bool
    /// The value of the token whose session is over.
    var over: String?
    var isOverAnnounced = false
    /// Whether the current token came from a refresh, and no response to a request with this token has arrived.
    var isUntried = false
    /// Whether a refusal of the current token has asked for a refresh, and no refresh has failed since.
    var isWanted = false
    /// Whether the app has asked for a token other than the current one, even if the current one has not expired.
    var isAsked = false
    /// Whether the current token had expired on arrival and has not been refused.
    var isWrongClock = false
    var faults: [String] = []

    init(calls: Int, form: Form, hasStore: Bool, hasToken: Bool) {
        self.calls = Array(repeating: Call(), count: calls)
        self.form = form
        self.hasStore = hasStore
        self.hasToken = hasToken
        wasSet = hasToken
    }

    mutating func expect(_ isTrue: Bool, _ rule: String) {
        if !isTrue { faults.append(rule) }
    }

    // MARK: The token

    /// The current token changes.
    ///
    /// - Parameters:
    ///   - isExpired: Whether the new token has expired on arrival.
    ///   - beginsSession: Whether the change begins another session.
    mutating func change(toToken isToken: Bool, by source: Source, isExpired: Bool, beginsSession: Bool) {
        let isRefresh = source == .refresh
        for index in calls.indices {
            if beginsSession { calls[index].isOfSession = false }
            if calls[index].isWaiting {
                calls[index].hasSeenChange = true
                if isRefresh { calls[index].hasSeenRefresh = true }
            }
            calls[index].isReplacedByRefresh = isRefresh && calls[index].wasCurrent
            calls[index].hasFailureSince = false
            calls[index].carried.age(beginsSession: beginsSession)
            calls[index].taken.age(beginsSession: beginsSession)
            if calls[index].taken != .none, calls[index].changesSinceTaken < 2 { calls[index].changesSinceTaken += 1 }
            switch (calls[index].refreshed, isRefresh) {
            case (.no, _): break
            case (.current, true): calls[index].refreshed = .older
            case (.older, true): break
            case (.overtaken, true): calls[index].refreshed = .older
            case (_, false): calls[index].refreshed = .overtaken
            }
        }
        refusing = []
        hasToken = isToken
        wasSet = true
        over = nil
        isOverAnnounced = false
        (isAsked, isWanted) = (false, false)
        isUntried = isRefresh
        isWrongClock = isRefresh && isExpired
    }

    /// A token was reported as the result of a refresh or of a log-in elsewhere.
    mutating func report(token: String, whileCurrentIs current: String?) {
        expect(token == current, "rule 8: the token reported as refreshed is the current token")
    }

    mutating func reportSessionOver() {
        expect(!isOverAnnounced, "rule 7: the end of a session is reported once")
        isOverAnnounced = true
    }

    // MARK: Refreshes

    /// A refresh begins.
    ///
    /// - Parameters:
    ///   - token: The token to replace.
    ///   - isExpired: Whether it has expired.
    mutating func beginRefresh(of token: String?, isExpired: Bool) {
        expect(form != .fixed, "rule 15: a fixed token is never refreshed")
        if token == nil {
            expect(form == .fetchesFirst && !wasSet, "rule 15: only the first token is fetched without a token")
        } else {
            expect(token != over, "rule 7: no refresh is tried with a token whose session is over")
            expect(
                isExpired || isAsked || isWanted,
                "rule 3: a refresh begins only after a refusal that may begin it, or for a token that has expired")
        }
        if isAsked { return }
        expect(!isUntried, "rule 5: a token fresh from a refresh is sent at least once")
        expect(!isWrongClock, "rule 5: an expiry caused by a wrong local clock begins no refresh")
    }

    /// Work that may replace the token begins: a refresh, or a reading of the store.
    mutating func begin(isAlone: Bool, endpoints: [Int], areFirst: [Bool]) {
        expect(isAlone, "rule 1: one refresh at a time")
        switch cause {
        case .other: break
        case .head(let index):
            expect(areFirst[index], "rule 3: a refresh begins at a head only if nothing stands before the handler")
            checkRefusal(index, endpoints[index])
        case .arrival(let index): checkRefusal(index, endpoints[index])
        }
    }

    private mutating func checkRefusal(_ index: Int, _ endpoint: Int) {
        let call = calls[index]
        expect(
            call.isOfSession && call.carried != .foreign, "rule 11: a refusal of another session begins no refresh")
        expect(call.carried != .older, "rule 2: a refusal of an older token begins no refresh")
        expect(!call.hasFailureSince, "rule 3: a refusal from before a failed refresh begins no second one")
        expect(
            call.refreshed == .no || call.refreshed == .overtaken,
            "rule 3: a call begins no refresh after its own refresh has brought a token")
        expect(!refusing.contains(endpoint), "rule 3: an endpoint that has refused a fresh token begins no refresh")
    }

    /// A call whose token was refused may begin a refresh.
    mutating func want(_ index: Int) {
        if calls[index].carried == .current { isWanted = true }
    }

    /// A refresh or a reading of the store has failed, or its time limit has passed.
    ///
    /// - Parameter isOver: Whether the refresh or the reading has ended.
    mutating func failRefresh(isOver: Bool) {
        if isOver { isWanted = false }
        for index in calls.indices {
            if calls[index].carried == .current { calls[index].hasFailureSince = true }
            if calls[index].isWaiting { calls[index].hasSeenFailure = true }
        }
    }

    /// The server no longer accepts the session of a token.
    mutating func endSession(of token: String?) { over = token }
}
