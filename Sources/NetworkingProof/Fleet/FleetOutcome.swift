/// The result of a run: the load on the server, and the results of the clients.
struct FleetOutcome: Equatable, Sendable, Encodable {
    let scenario: String
    let policy: String
    let clients: Int
    /// The number of calls that begin in a second.
    let normal: Int
    /// The number of requests in each second.
    var load: [Int] = []
    /// The number of event streams that were opened in each second.
    var opened: [Int] = []
    var calls = 0
    var failures = 0
    /// The number of calls that succeeded or failed.
    var ended = 0
    /// The number of event streams that ended with an error.
    var endedStreams = 0
    /// The number of event streams that are not open at the end.
    var closedStreams = 0
    /// The seconds from `FleetScenario.restored` until every client had received a response and every event stream was
    /// open again or had ended with an error. Nil if that never happened.
    var secondsToServeAll: Double?

    /// The highest load in one second, as a multiple of the normal load.
    func peak(in seconds: Range<Int>) -> Double { Double(load[seconds].max() ?? 0) / Double(normal) }

    /// The largest share of the event streams that opened in one second.
    func mostOpened(in seconds: Range<Int>) -> Double { Double(opened[seconds].max() ?? 0) / Double(clients) }

    func mean(in seconds: Range<Int>) -> Double {
        Double(load[seconds].reduce(0, +)) / Double(normal * seconds.count)
    }

    /// The number of requests, as a multiple of the number of calls.
    var requestsPerCall: Double { Double(load.reduce(0, +)) / Double(calls) }
}
