import Foundation

/// Where one call stands; shared by its task and whatever is derived from that.
final class CallTrack: Sendable {
    /// What a call that has no answer yet is at.
    enum Phase: Sendable {
        case queued
        case sending
        case retrying(after: Duration)
    }

    private struct State: Sendable {
        var phase = Phase.queued
        var request: HTTPRequest?
        var attempts: [RequestAttempt] = []
        var report: CallReport?
        var isOver = false
        var startObservers: [@Sendable () -> Void] = []
        var stepObservers: [@Sendable (RequestEvent) -> Void] = []
        var attemptObservers: [@Sendable (RequestAttempt) -> Void] = []

        /// Takes note of a step; says whom to tell.
        mutating func take(_ step: RequestEvent) -> [@Sendable () -> Void] {
            switch step {
            case .attempting(_, let request):
                phase = .queued
                self.request = request
                defer { startObservers = [] }
                return startObservers
            case .adapted(let request):
                phase = .sending
                self.request = request
                return []
            case .attempted(let attempt):
                attempts.append(attempt)
                return attemptObservers.map { observer in { observer(attempt) } }
            case .waiting(.retry(let delay, _)):
                phase = .retrying(after: delay)
                return []
            case .waiting(.connectivity):
                phase = .queued
                return []
            case .finished(let report):
                self.report = report
                return []
            default:
                return []
            }
        }
    }

    let meter: ProgressMeter
    /// Lets a download be paused.
    let pauseGate: PauseGate?
    /// How the answer's body is wanted.
    let delivery: BodyDelivery
    /// Whether the request's body is what takes time.
    let countsUpload: Bool
    private let state = Locked(State())

    init(meter: ProgressMeter, pauseGate: PauseGate?, delivery: BodyDelivery, isUpload: Bool) {
        self.meter = meter
        self.pauseGate = pauseGate
        self.delivery = delivery
        countsUpload = isUpload && delivery == .memory
    }

    /// Makes a track that will follow another one.
    convenience init() {
        self.init(meter: ProgressMeter(), pauseGate: nil, delivery: .memory, isUpload: false)
    }

    /// Tells from now on what another one tells, what it has told included.
    func follow(_ other: CallTrack) {
        other.onStep { [weak self] step in self?.note(step) }
        meter.follow(other.meter)
    }

    /// Has a closure told of each step, of the last request and the attempts before at once.
    private func onStep(_ action: @escaping @Sendable (RequestEvent) -> Void) {
        let (request, attempts, report) = state.withLock { state in
            if !state.isOver { state.stepObservers.append(action) }
            return (state.request, state.attempts, state.report)
        }
        if let request { action(.attempting(1, request)) }
        for attempt in attempts { action(.attempted(attempt)) }
        if let report { action(.finished(report)) }
    }

    var phase: Phase { state.withLock { $0.phase } }

    /// The request, as far as it has come; nil before there is one.
    var request: HTTPRequest? { state.withLock { $0.request } }

    /// What happened in the call; nil before its end.
    var report: CallReport? { state.withLock { $0.report } }

    /// Takes note of a step, and tells.
    func note(_ step: RequestEvent) {
        let (tell, followers): ([@Sendable () -> Void], [@Sendable (RequestEvent) -> Void]) = state.withLock { state in
            (state.take(step), state.stepObservers)
        }
        for tell in tell { tell() }
        for follower in followers { follower(step) }
    }

    /// The call is over: whoever was told of it is let go.
    func finish() {
        let before = state.withLock { state in
            defer {
                state.isOver = true
                (state.startObservers, state.attemptObservers, state.stepObservers) = ([], [], [])
            }
            return state
        }
        withExtendedLifetime(before) {}  // let go outside the lock: what a closure holds may ask the task as it goes
    }

    /// The response of the last attempt that had one.
    var lastResponse: HTTPResponse? { state.withLock { $0.attempts.last { $0.response != nil }?.response } }

    /// Has a closure called once the request is made; at once where it is.
    func onStart(_ action: @escaping @Sendable () -> Void) {
        let hasStarted = state.withLock { state in
            if state.request == nil, !state.isOver { state.startObservers.append(action) }
            return state.request != nil
        }
        if hasStarted { action() }
    }

    /// Has a closure called for each attempt that is over, those from before included.
    func onAttempt(_ action: @escaping @Sendable (RequestAttempt) -> Void) {
        let attempts = state.withLock { state in
            if !state.isOver { state.attemptObservers.append(action) }
            return state.attempts
        }
        for attempt in attempts { action(attempt) }
    }
}
