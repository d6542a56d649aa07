import Foundation
import Networking

// The moves, and the rules that are checked after each move. The name of a rule is the name of its function.
extension StreamWorld {
    private mutating func expect(_ isTrue: Bool, _ text: String, rule: String = #function) {
        if !isTrue { faults.append("\(rule.prefix { $0 != "(" }): \(text)") }
    }

    /// Sends one line. An empty line completes an event if there was data.
    mutating func send(_ text: String) {
        let events = (try? parser?.parse(Data(text.utf8))) ?? []
        let hadData = hasData
        switch text {
        case "id\n": newID = ""
        case let line where line.hasPrefix("id: "): newID = String(line.dropFirst(4).dropLast())
        case let line where line.hasPrefix("retry: "):
            newRetry = .milliseconds(Int(line.dropFirst(7).dropLast()) ?? 0)
        case "data: a\n": hasData = true
        case "\n": (id, newID, hasData) = (newID ?? id, nil, false)
        default: break
        }
        anEmptyLineCompletesAnEvent(events, text == "\n" && hadData)
    }

    mutating func end() {
        let step = step(.ended)
        aPostEndsWithItsResponse(step)
        if options.repetition == .always { waitsLongerWithoutEvents(step) }
        close(step)
    }

    mutating func fail(_ isRetryable: Bool) {
        failures += 1
        let step = step(.failed(isRetryable: isRetryable))
        theFirstConnectionMustNotFail(step)
        aPostIsNotRepeated(step)
        aFailureForGoodEnds(isRetryable, step)
        failuresAreLimited(step)
        let mayReconnect =
            hasConnected && isRetryable && options.repetition != .never && failures <= options.maximumFailures
        if mayReconnect { waitsLongerWithoutEvents(step) }
        close(step)
    }

    private mutating func close(_ step: EventStreamMachine.Step) {
        (parser, newID, newRetry, hasData) = (nil, nil, nil, false)
        if case .reconnect = step { reconnections += 1 } else { isOver = true }
    }

    private mutating func anEmptyLineCompletesAnEvent(_ events: [ServerSentEvent], _ isComplete: Bool) {
        expect(events.count == (isComplete ? 1 : 0), "the line leads to \(events.count) events")
        for event in events {
            expect(event.id == id, "the event has the id \(event.id), not \(id)")
            expect(step(.event) == .deliver, "an event is not delivered")
            (failures, reconnections) = (0, 0)
        }
    }

    /// A connection resumes after the last id. An id takes effect at the next empty line.
    mutating func resumesAfterTheLastEvent() {
        expect(machine.lastEventID == id, "the id is \(machine.lastEventID), not \(id)")
    }

    /// A status of 204 ends the stream without an error.
    mutating func noContentEnds(_ step: EventStreamMachine.Step) {
        expect(step == .end, "204 leads to \(step)")
        close(step)
    }

    /// The stream ends when the response ends, unless the call may always be repeated.
    private mutating func aPostEndsWithItsResponse(_ step: EventStreamMachine.Step) {
        if options.repetition != .always { expect(step == .end, "the end leads to \(step)") }
    }

    /// A call without an idempotency key is not repeated after a failure.
    private mutating func aPostIsNotRepeated(_ step: EventStreamMachine.Step) {
        if options.repetition == .never { expect(step == .fail, "a failure leads to \(step)") }
    }

    private mutating func theFirstConnectionMustNotFail(_ step: EventStreamMachine.Step) {
        if !hasConnected { expect(step == .fail, "the failure of the first connection leads to \(step)") }
    }

    private mutating func aFailureForGoodEnds(_ isRetryable: Bool, _ step: EventStreamMachine.Step) {
        if !isRetryable { expect(step == .fail, "a failure that is not retryable leads to \(step)") }
    }

    private mutating func failuresAreLimited(_ step: EventStreamMachine.Step) {
        if failures > options.maximumFailures { expect(step == .fail, "failure \(failures) leads to \(step)") }
    }

    /// If the server has sent a delay, it replaces the delay of the app. The delay doubles with each connection without
    /// an event, up to a factor of 32. Negative delays and delays of centuries are allowed.
    private mutating func waitsLongerWithoutEvents(_ step: EventStreamMachine.Step) {
        retry = newRetry ?? retry
        let (delay, factor) = (retry ?? options.delay, 1 << min(reconnections, 5))
        guard case .reconnect(let wait) = step else { return expect(false, "the end leads to \(step)") }
        if delay <= .zero { return expect(wait <= .zero, "a delay of \(delay) leads to \(wait)") }
        if delay > .seconds(1 << 40) { return expect(wait > .seconds(1 << 40), "a delay of \(delay) leads to \(wait)") }
        expect(wait == delay * factor, "the delay is \(wait), not \(delay) times \(factor)")
    }

    mutating func nothingFollowsTheEnd() {
        expect(machine.isOver == isOver, "the stream is \(machine.isOver ? "" : "not ")over")
    }
}
