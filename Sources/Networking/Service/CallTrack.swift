import Foundation

/// A step that a call takes, for whoever follows it.
enum CallStep: Sendable {
    /// An attempt begins, with this request.
    case began(HTTPRequest)
    /// The request goes out.
    case sending(HTTPRequest)
    /// The attempt is over.
    case attempted(RequestAttempt)
    /// The call waits before its next attempt.
    case waiting(Duration)
}

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
        var startObservers: [@Sendable () -> Void] = []
        var attemptObservers: [@Sendable (RequestAttempt) -> Void] = []
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

    var phase: Phase { state.withLock { $0.phase } }

    /// The request, as far as it has come; nil before there is one.
    var request: HTTPRequest? { state.withLock { $0.request } }

    /// Takes note of a step, and tells.
    func note(_ step: CallStep) {
        let tell: [@Sendable () -> Void] = state.withLock { state in
            switch step {
            case .began(let request):
                let isFirst = state.request == nil
                state.phase = .queued
                state.request = request
                return isFirst ? state.startObservers : []
            case .sending(let request):
                state.phase = .sending
                state.request = request
                return []
            case .attempted(let attempt):
                state.attempts.append(attempt)
                return state.attemptObservers.map { observer in { observer(attempt) } }
            case .waiting(let delay):
                state.phase = .retrying(after: delay)
                return []
            }
        }
        for tell in tell { tell() }
    }

    /// Has a closure called once the request is made; at once where it is.
    func onStart(_ action: @escaping @Sendable () -> Void) {
        let hasStarted = state.withLock { state in
            state.startObservers.append(action)
            return state.request != nil
        }
        if hasStarted { action() }
    }

    /// Has a closure called for each attempt that is over, those from before included.
    func onAttempt(_ action: @escaping @Sendable (RequestAttempt) -> Void) {
        let attempts = state.withLock { state in
            state.attemptObservers.append(action)
            return state.attempts
        }
        for attempt in attempts { action(attempt) }
    }
}
