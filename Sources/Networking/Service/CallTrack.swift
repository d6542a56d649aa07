import Foundation

/// Where one call stands; shared by its task and the tasks that are derived from it.
final class CallTrack: Sendable {
    typealias Observer = @Sendable (RequestEvent) -> Void

    /// What a call that has no outcome yet is doing.
    enum Phase: Sendable {
        case queued
        case sending
        case retrying(after: Duration)
    }

    /// A track that shows what this one shows.
    private struct Follower: Sendable {
        weak let track: CallTrack?
    }

    private struct State: Sendable {
        var phase = Phase.queued
        var request: HTTPRequest?
        var attempts: [RequestAttempt] = []
        var report: CallReport?
        var observers: [Observer] = []
        var followers: [Follower] = []
        /// The track that this one follows.
        weak var source: CallTrack?

        mutating func take(_ event: RequestEvent) {
            switch event {
            case .attemptStarted(_, let request): (phase, self.request) = (.queued, request)
            case .adapted(let request): (phase, self.request) = (.sending, request)
            case .attemptEnded(let attempt): attempts.append(attempt)
            case .waiting(.retry(let delay, _)): phase = .retrying(after: delay)
            case .waiting(.connectivity): phase = .queued
            case .finished(let report): self.report = report
            default: break
            }
        }

        /// What an observer that comes now has missed.
        var past: [RequestEvent] {
            [request.map { .attemptStarted(1, $0) }].compactMap { $0 } + attempts.map { .attemptEnded($0) }
                + [report.map { .finished($0) }].compactMap { $0 }
        }
    }

    let meter: ProgressMeter
    /// Lets a download be paused.
    let pauseGate: PauseGate?
    /// How the response's body is delivered.
    let target: BodyTarget
    /// Whether the request's body is what takes time.
    let countsUpload: Bool
    private let state = Locked(State())

    init(meter: ProgressMeter, pauseGate: PauseGate?, target: BodyTarget, isUpload: Bool) {
        self.meter = meter
        self.pauseGate = pauseGate
        self.target = target
        countsUpload = isUpload && target == .memory
    }

    /// Makes a track that will follow another one.
    convenience init() {
        self.init(meter: ProgressMeter(), pauseGate: nil, target: .memory, isUpload: false)
    }

    var phase: Phase { state.withLock { $0.phase } }

    /// The request, as far as it has come; nil before there is one.
    var request: HTTPRequest? { state.withLock { $0.request } }

    /// What happened in the call; nil before its end.
    var report: CallReport? { state.withLock { $0.report } }

    /// The response of the last attempt that had one.
    var lastResponse: HTTPResponse? { state.withLock { $0.attempts.last { $0.response != nil }?.response } }

    /// Takes note of an event. With the end of the call, observers are released.
    func note(_ event: RequestEvent) {
        let before = state.withLock { state in
            state.take(event)
            defer { if case .finished = event { (state.observers, state.followers) = ([], []) } }
            return state
        }
        for observer in before.observers { observer(event) }
        for follower in before.followers { follower.track?.note(event) }
    }

    /// Calls `observer` with what has happened, and then with each event.
    func observe(_ observer: @escaping Observer) {
        let past = state.withLock { state in
            if state.report == nil { state.observers.append(observer) }
            return state.past
        }
        for event in past { observer(event) }
    }

    /// Shows from now on what another track shows, in place of the one before.
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
        for event in past { note(event) }
        meter.follow(other.meter)
    }
}
