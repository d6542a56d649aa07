import Foundation

/// The events of one call: for its task, and for the observers of its service.
///
/// The task gets each event at once. Observers get one at a time, in one order, whichever threads report them; after
/// the end they are released.
final class CallEvents: Sendable {
    /// Who observes which call.
    private struct Audience: Sendable {
        let call: RequestEvent.Call
        let observers: [any RequestObserver]

        func observe(_ event: RequestEvent) {
            for observer in observers where observer.wants(event) { observer.observe(event, of: call) }
        }
    }

    private struct State: Sendable {
        /// Nil after the end, like the audience: a request that somebody keeps holds neither task, observers nor
        /// endpoint.
        var track: CallTrack?
        var audience: Audience?
        var queue = DeliveryQueue<RequestEvent>()
        /// Whether a transport has reported a head in this hop.
        var hasHead = false
        /// The end has been reported.
        var isOver = false

        /// Takes note of an event; says whether the caller is to deliver it.
        mutating func take(_ event: RequestEvent) -> Bool {
            guard !isOver else { return false }
            switch event {
            case .attemptStarted, .redirected: hasHead = false
            case .head: hasHead = true
            case .finished: (isOver, track) = (true, nil)
            default: break
            }
            guard audience != nil else { return false }
            queue.append(event)
            return queue.begin()
        }
    }

    private let state: Locked<State>

    /// - Returns: Nil if nobody observes the call.
    init?(_ endpoint: any Endpoint, of client: NetworkClient, in scope: CallScope, for track: CallTrack? = nil) {
        let observers = client.observers.current
        guard !observers.isEmpty || track != nil else { return nil }
        let audience =
            observers.isEmpty
            ? nil
            : Audience(
                call: RequestEvent.Call(id: scope.id(using: client.configuration.random), endpoint: endpoint),
                observers: observers)
        state = Locked(State(track: track, audience: audience))
    }

    /// Reports an event, unless the end has been reported.
    func report(_ event: RequestEvent) {
        let (track, delivers) = state.withLock { ($0.track, $0.take(event)) }
        track?.note(event)
        if delivers { deliver() }
    }

    /// Reports the end to the observers. The task knows it already: its callbacks come before.
    func finish(_ report: CallReport) {
        if state.withLock({ $0.take(.finished(report)) }) { deliver() }
    }

    private func deliver() {
        while let (event, audience) = state.withLock({ state in state.queue.next().map { ($0, state.audience) } }) {
            audience?.observe(event)
            guard case .finished = event else { continue }
            let ended = state.withLock { state in
                defer {
                    state.audience = nil
                    state.queue.removeAll()
                }
                return state
            }
            withExtendedLifetime(ended) {}  // released outside the lock: an observer may ask for the call as it goes
        }
    }

    /// Reports a head, unless a transport has.
    func reportHead(of response: HTTPResponse) {
        if !state.withLock({ $0.hasHead }) { report(.head(response.status, response.headers)) }
    }

    /// What a request carries, so that transports and handlers can report.
    var watch: RequestWatch { RequestWatch { [self] in report(RequestEvent($0)) } }

    /// What counts the bytes for observers that want to know; nil if none does.
    func makeMeter(on clock: NetworkClock) -> ProgressMeter? {
        wantsProgress ? ProgressMeter(clock: clock) : nil
    }

    /// Reports the progress to the observers that want it.
    func observe(_ meter: ProgressMeter) {
        guard wantsProgress else { return }
        meter.observe(on: DispatchQueue(label: "networking.progress")) { [weak self] in self?.report(.progress($0)) }
    }

    private var wantsProgress: Bool {
        state.withLock { $0.audience }?.observers.contains(where: \.wantsProgress) ?? false
    }
}

extension RequestObserver {
    fileprivate func wants(_ event: RequestEvent) -> Bool {
        if case .progress = event { wantsProgress } else { true }
    }
}
