import Foundation

/// Tells the steps of one call to whoever watches it: its task, and the observers of its service.
///
/// Observers are told one event at a time, in order, whichever threads tell; nothing comes after the end, and then nobody is held any more.
final class CallWatch: Sendable {
    /// Holds the end of a call back until it may be told.
    typealias EndHold = @Sendable (_ tell: @escaping @Sendable () -> Void) -> Void

    /// Who watches which call.
    private struct Audience: Sendable {
        let call: ObservedCall
        let observers: [any RequestObserver]
    }

    private struct State: Sendable {
        /// Nil once the end has been told: a request that somebody keeps holds neither observers nor endpoint.
        var audience: Audience?
        var follow: (@Sendable (RequestEvent) -> Void)?
        var holdEnd: EndHold
        /// What has yet to be told, and whether somebody is at it.
        var queue: [RequestEvent] = []
        var isTelling = false
        /// The end has come, and nothing is taken any more.
        var isOver = false
        /// Whether somebody below has told of a head in this hop.
        var hasHead = false

        /// Takes what is to be told; nil where the end has come already.
        mutating func take(_ event: RequestEvent) -> (follow: (@Sendable (RequestEvent) -> Void)?, next: Step)? {
            guard !isOver else { return nil }
            let follow = follow
            switch event {
            case .attempting, .redirected: hasHead = false
            case .head: hasHead = true
            case .finished:
                isOver = true
                self.follow = nil  // the request that it keeps leads back here
                return (follow, .hold(holdEnd))
            default: break
            }
            return (follow, enqueue(event))
        }

        /// Puts an event behind those that are being told; where none is, it is the caller's to tell.
        mutating func enqueue(_ event: RequestEvent) -> Step {
            guard let audience else { return .none }
            guard !isTelling else {
                queue.append(event)
                return .none
            }
            isTelling = true
            return .tell(audience)
        }

        /// After an event has been told: the next one.
        mutating func next() -> RequestEvent? {
            guard queue.isEmpty else { return queue.removeFirst() }
            isTelling = false
            return nil
        }
    }

    /// What is left to do about an event.
    private enum Step: Sendable {
        /// Nothing: nobody watches, or somebody else tells it.
        case none
        /// Tell it, and what has come by then.
        case tell(Audience)
        /// It is the end: tell it when it may be told.
        case hold(EndHold)
    }

    private let state: Locked<State>

    /// - Returns: Nil where nobody watches, so that nothing is told.
    init?(
        _ endpoint: any Endpoint, of client: NetworkClient, in scope: CallScope,
        following follow: (@Sendable (RequestEvent) -> Void)?, holdingEnd holdEnd: @escaping EndHold = { $0() }
    ) {
        let observers = client.observers.current
        guard !observers.isEmpty || follow != nil else { return nil }
        let audience =
            observers.isEmpty
            ? nil
            : Audience(call: ObservedCall(id: scope.id(using: client.random), endpoint: endpoint), observers: observers)
        state = Locked(State(audience: audience, follow: follow, holdEnd: holdEnd))
    }

    /// Tells a step.
    func tell(_ event: RequestEvent) {
        guard let (follow, next) = state.withLock({ $0.take(event) }) else { return }
        follow?(event)
        switch next {
        case .none: break
        case .tell(let audience): tell(event, to: audience)
        case .hold(let holdEnd):
            holdEnd { [self] in
                if case .tell(let audience) = state.withLock({ $0.enqueue(event) }) { tell(event, to: audience) }
            }
        }
    }

    /// Tells of a head, unless an engine has.
    func tellHead(of response: HTTPResponse) {
        if !state.withLock({ $0.hasHead }) { tell(.head(response.status, response.headers)) }
    }

    /// Tells observers of an event, and of those that come meanwhile, until none is left; with the end, everybody is let go.
    private func tell(_ first: RequestEvent, to audience: Audience) {
        var event: RequestEvent? = first
        while let told = event {
            for observer in audience.observers where observer.wants(told) {
                observer.observe(told, of: audience.call)
            }
            if case .finished = told {
                return state.withLock { state in
                    (state.audience, state.queue) = (nil, [])
                    state.holdEnd = { $0() }
                }
            }
            event = state.withLock { $0.next() }
        }
    }

    /// What a request takes with it, so that whoever sees it below can tell.
    var below: RequestWatch { RequestWatch { [self] in tell(RequestEvent($0)) } }

    /// What counts the bytes for observers that want to know; nil where none does.
    func makeMeter(on clock: NetworkClock) -> ProgressMeter? {
        wantsProgress ? ProgressMeter(clock: clock) : nil
    }

    /// Has the observers that want it told of progress.
    func observe(_ meter: ProgressMeter) {
        guard wantsProgress else { return }
        meter.observe(on: DispatchQueue(label: "networking.progress")) { [weak self] in self?.tell(.progress($0)) }
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
