import Foundation
import Networking

/// A stream of events. The server sends events, ids and delays. Its response may end or fail at any time.
struct StreamWorld: World {
    struct Options: Sendable {
        var repetition = EventStreamMachine.Repetition.always
        var maximumFailures = Int.max
        var delay = Duration.seconds(3)
        /// The id with which the stream begins.
        var first = ""
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
    var machine: EventStreamMachine
    /// The parser of the open connection.
    var parser: ServerSentEventParser?
    // The facts that the rules need. They are recorded without the machine.
    /// `id` is in effect. The open connection has sent `newID`, which takes effect at the next empty line.
    var id: String
    var newID: String?
    var hasData = false
    /// The delay that the server sent on earlier connections, and the delay that it has sent on the open connection.
    var retry: Duration?
    var newRetry: Duration?
    var hasConnected = false
    var isOver = false
    var failures = 0
    var reconnections = 0
    var faults: [String] = []

    init(_ options: Options) {
        self.options = options
        id = options.first
        machine = EventStreamMachine(
            .init(delay: options.delay, maximumFailures: options.maximumFailures, after: options.first),
            repeating: options.repetition)
    }

    var moves: [Move] {
        guard !isOver else { return [] }
        let failures: [Move] = [.fail(isRetryable: true), .fail(isRetryable: false)]
        guard parser != nil else { return [.open, .openWithNoContent] + failures }
        let lines = ["id: 1\n", "id: 2\n", "id\n", "retry: 500\n", "retry: 7000\n", "data: a\n", ": comment\n", "\n"]
        return lines.map { .send($0) } + failures + [.end]
    }

    mutating func make(_ move: Move) -> [String] {
        faults = []
        switch move {
        case .open:
            resumesAfterTheLastEvent()
            parser = ServerSentEventParser(after: machine.lastEventID)
            machine.connect()
            hasConnected = true
        case .openWithNoContent: noContentEnds(step(.noContent))
        case .fail(let isRetryable): fail(isRetryable)
        case .send(let text): send(text)
        case .end: end()
        }
        nothingFollowsTheEnd()
        return faults
    }

    /// Returns the decision of the machine. The machine gets the id and the delay of the open connection.
    mutating func step(_ outcome: EventStreamMachine.Outcome) -> EventStreamMachine.Step {
        machine.step(after: outcome, id: parser?.lastEventID, retry: parser?.retry)
    }

    func write(to key: inout StateKey) {
        key.write(options.number)
        key.write(parser != nil, hasConnected, isOver, hasData, newID != nil, newRetry != nil, machine.hasConnected)
        for text in [id, newID ?? "", machine.lastEventID, parser?.lastEventID ?? ""] {
            key.write(Array(text.utf8) + [0])
        }
        for delay in [retry, newRetry, machine.delay, parser?.retry] {
            key.write(UInt8(truncatingIfNeeded: (delay ?? .zero).components.seconds))
        }
        let limit = options.maximumFailures == .max ? 0 : options.maximumFailures + 1
        key.write([UInt8(min(failures, limit)), UInt8(min(machine.failures, limit))])
        key.write([UInt8(min(reconnections, 6)), UInt8(min(machine.emptyConnections, 6))])
    }
}

extension ExploreCheck {
    /// The states of event streams whose calls may be repeated always, only after a failure, or never.
    static var streams: [ExplorePart] {
        let longest = Duration.seconds(Int64.max)
        var worlds: [StreamWorld.Options] = [
            .init(), .init(maximumFailures: 0), .init(maximumFailures: 2, first: "7"),
            .init(repetition: .afterFailure, maximumFailures: 2), .init(repetition: .never),
            .init(delay: .zero), .init(delay: longest), .init(delay: .seconds(Int64.min)),
        ]
        for index in worlds.indices { worlds[index].number = UInt8(index) }
        let initial = worlds.map { StreamWorld($0) }
        return [.world("stream") { initial }]
    }
}
