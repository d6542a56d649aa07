import Foundation

/// The current state and the history of one call. The task of the call and the tasks derived from that task share this
/// object.
package final class CallTrack: Sendable {
    package typealias Observer = @Sendable (RequestEvent) -> Void

    private struct State: Sendable {
        var activity = RequestState.waiting
        var request: HTTPRequest?
        var attempts: [RequestAttempt] = []
        var report: CallReport?
        var observers: [Observer] = []
        /// The track that this track follows. The observers of both tracks are registered with the followed track.
        var source: CallTrack?

        mutating func take(_ event: RequestEvent) {
            switch event {
            case .attemptStarted(_, let request): (activity, self.request) = (.waiting, request)
            case .adapted(let request): (activity, self.request) = (.running(RequestProgress()), request)
            case .attemptEnded(let attempt): attempts.append(attempt)
            case .waiting(.retry(let delay, _)): activity = .retrying(after: delay)
            case .waiting(.connectivity): activity = .waitingForNetwork
            case .finished(let report): self.report = report
            default: break
            }
        }

        /// Registers observers, and notifies them of the past events.
        mutating func add(_ new: [Observer]) {
            let first = request.map { [RequestEvent.attemptStarted(1, $0)] } ?? []
            let past = first + attempts.map { .attemptEnded($0) } + (report.map { [.finished($0)] } ?? [])
            for observer in new { for event in past { observer(event) } }
            if report == nil { observers += new }
        }
    }

    package let meter: RequestProgress.Meter
    /// Pauses and resumes the transfer; nil if the call cannot be paused.
    let pauseGate: PauseGate?
    /// Whether the call can be paused: it is a download or a resumable upload.
    var canPause: Bool {
        guard pauseGate != nil, isUpload else { return pauseGate != nil }
        return request?.parts.upload != nil
    }
    /// The target to which the response's body is delivered.
    let target: BodyTarget
    /// Whether the progress of the call is the progress of its upload. If false, it is the progress of its download.
    let countsUpload: Bool
    private let isUpload: Bool
    private let state = Locked(State())

    init(meter: RequestProgress.Meter, pauseGate: PauseGate?, target: BodyTarget, isUpload: Bool) {
        self.meter = meter
        self.pauseGate = pauseGate
        self.isUpload = isUpload
        self.target = target
        countsUpload = isUpload && target == .memory
    }

    /// Creates a track that will follow another track.
    package convenience init() {
        self.init(meter: RequestProgress.Meter(), pauseGate: nil, target: .memory, isUpload: false)
    }

    /// The track that has the history: this track, or the track that it follows.
    private var root: CallTrack {
        var root = self
        while let next = root.state.withLock({ $0.source }) { root = next }
        return root
    }

    /// The state of the call before the call has an outcome.
    var activity: RequestState {
        let root = root
        if root.pauseGate?.isPaused == true { return .paused }
        let activity = root.state.withLock { $0.activity }
        if case .running = activity { return .running(root.meter.current) }
        return activity
    }

    /// The current request; nil before it has been created. After the adapters have run, it is the adapted request.
    var request: HTTPRequest? { root.state.withLock { $0.request } }

    /// The report of the call; nil before the call ends.
    package var report: CallReport? { root.state.withLock { $0.report } }

    /// The attempts that have ended.
    package var attempts: [RequestAttempt] { root.state.withLock { $0.attempts } }

    /// The response of the last attempt that received a response.
    var lastResponse: HTTPResponse? { attempts.last { $0.response != nil }?.response }

    /// Records an event and notifies the observers. When the call ends, releases them.
    package func note(_ event: RequestEvent) {
        // The lock is held while the observers are notified, so that each of them gets the events in order. The
        // observers are released outside the lock, because an object that they retain may read the track in its
        // `deinit`.
        let before = state.withLock { state in
            state.take(event)
            let observers = state.observers
            for observer in observers { observer(event) }
            if case .finished = event { state.observers = [] }
            return observers
        }
        withExtendedLifetime(before) {}
    }

    /// Calls `observer` with the past events, and then with each new event. An observer must not use the track.
    package func observe(_ observer: @escaping Observer) {
        add([observer])
    }

    private func add(_ observers: [Observer]) {
        var track = self
        while let next = track.state.withLock({ state -> CallTrack? in
            if state.source == nil { state.add(observers) }
            return state.source
        }) { track = next }
    }

    /// Takes over the history of another track. The observers of this track get the other track's past events, and then
    /// its new events.
    func follow(_ other: CallTrack) {
        let before = state.withLock { $0.source }
        var root = other.root
        while root !== self, !link(to: root) { root = root.root }
        before?.meter.removeFollower(meter)
        if root !== self { meter.follow(root.meter) }
    }

    /// Moves the observers to another track, unless that track has begun to follow a third track. Both locks are held,
    /// so that two tracks do not follow each other, and no event is lost. The locks are acquired in the order of their
    /// addresses, so that two threads do not wait for each other.
    private func link(to other: CallTrack) -> Bool {
        func move(_ mine: inout State, _ theirs: inout State) -> Bool {
            guard theirs.source == nil else { return false }
            theirs.add(mine.observers)
            (mine.observers, mine.source) = ([], other)
            return true
        }
        return ObjectIdentifier(self) < ObjectIdentifier(other)
            ? state.withLock { mine in other.state.withLock { move(&mine, &$0) } }
            : other.state.withLock { theirs in state.withLock { move(&$0, &theirs) } }
    }
}
