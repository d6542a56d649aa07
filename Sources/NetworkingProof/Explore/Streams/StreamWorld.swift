import Foundation
import Networking

/// A stream of events. The server sends events, ids and delays. Its response may end or fail at any time.
struct StreamWorld: World {
    struct Options: Sendable {
        var repetition = ReconnectionMachine.Repetition.always
        var maximumFailures = Int.max
        var delay = Duration.seconds(3)
        /// The id with which the stream begins.
        var first = ""
        /// The random number of every wait.
        var spread = 0.5
        /// Distinguishes the states of worlds with different options.
        var number: UInt8 = 0
    }

    enum Move: CustomStringConvertible, Sendable {
        case open
        case openWithNoContent
        case fail(isRetryable: Bool)
        case send(String)
        case end

        var description: String {
            switch self {
            case .open: "a connection is opened"
            case .openWithNoContent: "the server responds with 204"
            case .fail(let isRetryable): "the connection fails, \(isRetryable ? "retryable" : "not retryable")"
            case .send(let text): "the server sends \(text.debugDescription)"
            case .end: "the response ends"
            }
        }
    }

    let options: Options
    var machine: ReconnectionMachine
    /// The parser of the open connection.
    var parser: ServerSentEventParser?
    var rules: StreamRules

    init(_ options: Options) {
        self.options = options
        rules = StreamRules(
            StreamRules.Repetition(options.repetition), maximumFailures: options.maximumFailures, delay: options.delay,
            first: options.first)
        machine = ReconnectionMachine(
            .init(delay: options.delay, maximumFailures: options.maximumFailures, after: options.first),
            repeating: options.repetition)
    }

    var moves: [Move] {
        guard !rules.isOver else { return [] }
        let failures: [Move] = [.fail(isRetryable: true), .fail(isRetryable: false)]
        guard parser != nil else { return [.open, .openWithNoContent] + failures }
        let lines = ["id: 1\n", "id: 2\n", "id\n", "retry: 0\n", "retry: 7000\n", "data: a\n", ": comment\n", "\n"]
        return lines.map { .send($0) } + failures + [.end]
    }

    mutating func make(_ move: Move) -> [String] {
        rules.faults = []
        switch move {
        case .open:
            rules.open(lastID: machine.lastEventID)
            parser = ServerSentEventParser(after: machine.lastEventID)
            machine.connect()
        case .openWithNoContent: rules.endWithNoContent(step(.noContent))
        case .fail(let isRetryable):
            rules.fail(isRetryable, step(.failed(isRetryable: isRetryable)))
            parser = nil
        case .send(let text): send(text)
        case .end:
            rules.end(step(.ended))
            parser = nil
        }
        rules.nothingFollowsTheEnd(isOver: machine.isOver)
        return rules.faults
    }

    private mutating func send(_ line: String) {
        let events = (try? parser?.parse(Data(line.utf8))) ?? []
        rules.hear(line, ids: events.map(\.id))
        for _ in events { rules.deliver(step(.event)) }
    }

    /// Returns the decision of the machine. The machine gets the id and the delay of the open connection.
    private mutating func step(_ outcome: ReconnectionMachine.Outcome) -> StreamRules.Step {
        switch machine.step(after: outcome, id: parser?.lastEventID, retry: parser?.retry, spread: options.spread) {
        case .deliver: .deliver
        case .end: .end
        case .fail: .fail
        case .reconnect(let delay): .reconnect(after: delay)
        }
    }

    func write(to key: inout StateKey) {
        key.write(options.number)
        key.write(
            parser != nil, rules.hasConnected, rules.isOver, rules.hasData, rules.newID != nil, rules.newRetry != nil,
            machine.hasConnected)
        for text in [rules.id, rules.newID ?? "", machine.lastEventID, parser?.lastEventID ?? ""] {
            key.write(Array(text.utf8) + [0])
        }
        for delay in [rules.retry, rules.newRetry, machine.delay, parser?.retry] {
            // The worlds have few delays: none, 0, 100 ms, 3 s, 7 s, and the longest and the shortest possible delay.
            let parts = delay?.components
            key.write([
                delay == nil ? 0 : 1, UInt8(truncatingIfNeeded: parts?.seconds ?? 0),
                UInt8(truncatingIfNeeded: (parts?.attoseconds ?? 0) / 100_000_000_000_000_000),
            ])
        }
        let limit = options.maximumFailures == .max ? 0 : options.maximumFailures + 1
        key.write([UInt8(min(rules.failures, limit)), UInt8(min(machine.failures, limit))])
        key.write([UInt8(min(rules.reconnections, 6)), UInt8(min(machine.emptyConnections, 6))])
    }
}

extension StreamRules.Repetition {
    fileprivate init(_ repetition: ReconnectionMachine.Repetition) {
        self =
            switch repetition {
            case .always: .always
            case .afterFailure: .afterFailure
            case .never: .never
            }
    }
}

extension ExploreCheck {
    /// The states of event streams whose calls may be repeated always, only after a failure, or never.
    static var streams: [ExplorePart] {
        let longest = Duration.seconds(Int64.max)
        var worlds: [StreamWorld.Options] = [
            .init(), .init(maximumFailures: 0), .init(maximumFailures: 2, first: "7"),
            .init(repetition: .afterFailure, maximumFailures: 2), .init(repetition: .never),
            .init(delay: .zero), .init(delay: longest), .init(delay: .seconds(Int64.min)), .init(spread: 0),
            .init(spread: 1), .init(delay: .zero, spread: 0), .init(delay: longest, spread: 1),
        ]
        for index in worlds.indices { worlds[index].number = UInt8(index) }
        let initial = worlds.map { StreamWorld($0) }
        return [.world("stream") { initial }]
    }
}
