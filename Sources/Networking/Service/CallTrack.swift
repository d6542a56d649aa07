import Foundation

/// The current state and the history of one call. The task of the call and the tasks derived from that task share this
/// object.
package final class CallTrack: Sendable {
    typealias Observer = @Sendable (RequestEvent) -> Void

    /// A track that repeats the events of this track.
    private struct Follower: Sendable {
        weak let track: CallTrack?
    }

    private struct State: Sendable {
        var activity = RequestState.waiting
        var request: HTTPRequest?
        var attempts: [RequestAttempt] = []
        var report: CallReport?
        var observers: [Observer] = []
        var followers: [Follower] = []
        /// The track that this one follows.
        weak var source: CallTrack?

        mutating func take(_ event: RequestEvent) {
            switch event {
            case .attemptStarted(_, let request): (activity, self.request) = (.waiting, request)
            case .adapted(let request): (activity, self.request) = (.running(RequestProgress()), request)
            case .attemptEnded(let attempt): attempts.append(attempt)
            case .waiting(.retry(let delay, _)): activity = .retrying(after: delay)
            case .waiting(.connectivity): activity = .waiting
            case .finished(let report): self.report = report
            default: break
            }
        }

        /// The past events, for an observer that is registered now.
        var past: [RequestEvent] {
            [request.map { .attemptStarted(1, $0) }].compactMap { $0 } + attempts.map { .attemptEnded($0) }
                + [report.map { .finished($0) }].compactMap { $0 }
        }
    }

    let meter: RequestProgress.Meter
    /// Pauses and resumes the download; nil if the call cannot be paused.
    let pauseGate: PauseGate?
    /// The target to which the response's body is delivered.
    let target: BodyTarget
    /// Whether the progress of the call is the progress of its upload. If false, it is the progress of its download.
    let countsUpload: Bool
    private let state = Locked(State())

    init(meter: RequestProgress.Meter, pauseGate: PauseGate?, target: BodyTarget, isUpload: Bool) {
        self.meter = meter
        self.pauseGate = pauseGate
        self.target = target
        countsUpload = isUpload && target == .memory
    }

    /// Creates a track that will follow another track.
    package convenience init() {
        self.init(meter: RequestProgress.Meter(), pauseGate: nil, target: .memory, isUpload: false)
    }

    /// The state of the call while it has no outcome.
    var activity: RequestState {
        if pauseGate?.isPaused == true { return .paused }
        let activity = state.withLock { $0.activity }
        if case .running = activity { return .running(meter.current) }
        return activity
    }

    /// The current request; nil before it has been created. After the adapters have run, it is the adapted request.
    var request: HTTPRequest? { state.withLock { $0.request } }

    /// The report of the call; nil before the call ends.
    var report: CallReport? { state.withLock { $0.report } }

    /// The response of the last attempt that received a response.
    var lastResponse: HTTPResponse? { state.withLock { $0.attempts.last { $0.response != nil }?.response } }

    /// Records an event and notifies the observers and followers. When the call ends, releases them.
    func note(_ event: RequestEvent) {
        let before = state.withLock { state in
            state.take(event)
            defer { if case .finished = event { (state.observers, state.followers) = ([], []) } }
            return state
        }
        for observer in before.observers { observer(event) }
        for follower in before.followers { follower.track?.note(event) }
    }

    /// Calls `observer` with the past events, and then with each new event.
    func observe(_ observer: @escaping Observer) {
        let past = state.withLock { state in
            if state.report == nil { state.observers.append(observer) }
            return state.past
        }
        for event in past { observer(event) }
    }

    /// Repeats the past events of another track, and then each of its new events. Stops following the previous track. If
    /// the previous track follows the other one, too, and has repeated some of its attempts, only the later ones are
    /// repeated.
    func follow(_ other: CallTrack) {
        let before = state.withLock { state in
            defer { state.source = other }
            return state.source
        }
        before?.state.withLock { $0.followers.removeAll { $0.track === self } }
        before?.meter.removeFollower(meter)
        let past = other.state.withLock { state in
            if state.report == nil { state.followers.append(Follower(track: self)) }
            return state.past
        }
        var known = state.withLock { $0.attempts.count }
        for event in past {
            if case .attemptEnded = event, known > 0 { known -= 1 } else { note(event) }
        }
        meter.follow(other.meter)
    }
}
