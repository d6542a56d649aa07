/// The rules of an event stream, and the facts that they need. The facts about what the server has sent are recorded
/// independently of the machine and the parser. The name of a rule is the name of its function.
struct StreamRules: Sendable {
    /// When a call may be repeated.
    enum Repetition: Sendable {
        case always, afterFailure, never
    }

    /// What the stream does next.
    enum Step: Equatable, Sendable {
        case deliver, end, fail
        case reconnect(after: Duration)
    }

    let repetition: Repetition
    let maximumFailures: Int
    /// The delay that the app asks for.
    let delay: Duration
    /// `id` is in effect. The open connection has sent `newID`, which takes effect at the next empty line.
    private(set) var id: String
    private(set) var newID: String?
    private(set) var hasData = false
    /// The delay that the server sent on earlier connections, and the delay that it has sent on the open connection.
    private(set) var retry: Duration?
    private(set) var newRetry: Duration?
    private(set) var hasConnected = false
    private(set) var isOver = false
    private(set) var failures = 0
    private(set) var reconnections = 0
    /// The broken rules of the last move.
    var faults: [String] = []

    init(_ repetition: Repetition, maximumFailures: Int, delay: Duration, first: String) {
        (self.repetition, self.maximumFailures, self.delay, id) = (repetition, maximumFailures, delay, first)
    }

    private mutating func expect(_ isTrue: Bool, _ text: String, rule: String = #function) {
        if !isTrue { faults.append("\(rule.prefix { $0 != "(" }): \(text)") }
    }

    // MARK: What happens

    /// A connection is opened with the id `lastID`.
    mutating func open(lastID: String) {
        resumesAfterTheLastEvent(lastID)
        hasConnected = true
    }

    /// The server sends a line. An empty line completes an event if there was data.
    ///
    /// - Parameter ids: The ids of the events that the parser returns for the line.
    mutating func hear(_ line: String, ids: [String]) {
        let isComplete = line == "\n" && hasData
        switch line {
        case "id\n": newID = ""
        case let line where line.hasPrefix("id: "): newID = String(line.dropFirst(4).dropLast())
        case let line where line.hasPrefix("retry: "):
            // The client waits at least 100 ms, even if the server asks it not to wait.
            newRetry = .milliseconds(max(Int(line.dropFirst(7).dropLast()) ?? 0, 100))
        case "data: a\n": hasData = true
        case "\n": (id, newID, hasData) = (newID ?? id, nil, false)
        default: break
        }
        anEmptyLineCompletesAnEvent(ids, isComplete)
        for found in ids { anEventHasTheLastID(found) }
    }

    /// An event is delivered.
    mutating func deliver(_ step: Step) {
        anEventIsDelivered(step)
        (failures, reconnections) = (0, 0)
    }

    /// The response ends.
    mutating func end(_ step: Step) {
        aPostEndsWithItsResponse(step)
        if repetition == .always { reconnect(step) }
        close(step)
    }

    /// The server responds with 204.
    mutating func endWithNoContent(_ step: Step) {
        noContentEnds(step)
        close(step)
    }

    /// The connection fails.
    mutating func fail(_ isRetryable: Bool, _ step: Step) {
        failures += 1
        theFirstConnectionMustNotFail(step)
        aPostIsNotRepeated(step)
        aFailureForGoodEnds(isRetryable, step)
        failuresAreLimited(step)
        let mayReconnect = hasConnected && isRetryable && repetition != .never && failures <= maximumFailures
        if mayReconnect { reconnect(step) }
        close(step)
    }

    private mutating func reconnect(_ step: Step) {
        anotherConnectionFollows(step)
        retry = newRetry ?? retry
        let delay = retry ?? delay
        guard case .reconnect(let wait) = step else { return }
        switch delay {
        case ...(.zero): aNegativeDelayIsNone(wait, delay)
        case ...(.seconds(1 << 40)): waitsLongerWithoutEvents(wait, delay)
        default: aDelayOfCenturiesIsLong(wait, delay)
        }
    }

    private mutating func close(_ step: Step) {
        (newID, newRetry, hasData) = (nil, nil, false)
        if case .reconnect = step { reconnections += 1 } else { isOver = true }
    }

    // MARK: Rules

    private mutating func anEmptyLineCompletesAnEvent(_ ids: [String], _ isComplete: Bool) {
        expect(ids.count == (isComplete ? 1 : 0), "the line leads to \(ids.count) events")
    }

    private mutating func anEventHasTheLastID(_ found: String) {
        expect(found == id, "the event has the id \(found), not \(id)")
    }

    private mutating func anEventIsDelivered(_ step: Step) {
        expect(step == .deliver, "an event leads to \(step)")
    }

    /// A connection resumes after the last id. An id takes effect at the next empty line.
    private mutating func resumesAfterTheLastEvent(_ lastID: String) {
        expect(lastID == id, "the id is \(lastID), not \(id)")
    }

    /// A status of 204 ends the stream without an error.
    private mutating func noContentEnds(_ step: Step) {
        expect(step == .end, "204 leads to \(step)")
    }

    /// The stream ends when the response ends, unless the call may always be repeated.
    private mutating func aPostEndsWithItsResponse(_ step: Step) {
        if repetition != .always { expect(step == .end, "the end leads to \(step)") }
    }

    /// A call without an idempotency key is not repeated after a failure.
    private mutating func aPostIsNotRepeated(_ step: Step) {
        if repetition == .never { expect(step == .fail, "a failure leads to \(step)") }
    }

    private mutating func theFirstConnectionMustNotFail(_ step: Step) {
        if !hasConnected { expect(step == .fail, "the failure of the first connection leads to \(step)") }
    }

    private mutating func aFailureForGoodEnds(_ isRetryable: Bool, _ step: Step) {
        if !isRetryable { expect(step == .fail, "a failure that is not retryable leads to \(step)") }
    }

    private mutating func failuresAreLimited(_ step: Step) {
        if failures > maximumFailures { expect(step == .fail, "failure \(failures) leads to \(step)") }
    }

    /// If the call may be repeated, another connection follows.
    private mutating func anotherConnectionFollows(_ step: Step) {
        guard case .reconnect = step else { return expect(false, "the end leads to \(step)") }
    }

    /// A delay that the server has sent replaces the app's delay. The delay doubles with each connection without an
    /// event, up to a factor of 16 and up to 10 minutes. A delay that was longer from the beginning does not change.
    /// The first wait is between 75 % and 125 % of the delay; each later wait is between 50 % and 120 %.
    private mutating func waitsLongerWithoutEvents(_ wait: Duration, _ delay: Duration) {
        let factor = 1 << min(reconnections, 4)
        let time = min(delay * factor, max(delay, .seconds(600)))
        let least = max(reconnections == 0 ? time * 3 / 4 : time / 2, min(time, .milliseconds(100)))
        // A product with a fraction is not exact.
        let most = (reconnections == 0 ? time * 5 / 4 : time * 6 / 5) + .nanoseconds(1)
        expect(wait >= least && wait <= most, "the wait is \(wait), for a delay of \(delay) times \(factor)")
    }

    /// A delay of zero or less means no wait before the first reconnection. After further connections without an event,
    /// the stream waits, so that there is no storm of connections.
    private mutating func aNegativeDelayIsNone(_ wait: Duration, _ delay: Duration) {
        let time = reconnections == 0 ? .zero : Duration.milliseconds(100) * (1 << min(reconnections, 4))
        let least = min(time, .milliseconds(100))
        expect(
            wait >= max(time / 2, least) && wait <= time * 6 / 5 + .nanoseconds(1),
            "a delay of \(delay) leads to \(wait)")
    }

    /// A delay of centuries results in a long wait, although no multiple of the delay can be computed.
    private mutating func aDelayOfCenturiesIsLong(_ wait: Duration, _ delay: Duration) {
        expect(wait > .seconds(1 << 40), "a delay of \(delay) leads to \(wait)")
    }

    mutating func nothingFollowsTheEnd(isOver found: Bool) {
        expect(found == isOver, "the stream is \(found ? "" : "not ")over")
    }
}
