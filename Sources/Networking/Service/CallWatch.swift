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
        let (follow, holdEnd) = state.withLock { state -> (((@Sendable (RequestEvent) -> Void)?), EndHold?) in
            guard !state.isOver else { return (nil, nil) }
            let follow = state.follow
            switch event {
            case .attempting, .redirected: state.hasHead = false
            case .head: state.hasHead = true
            case .finished:
                state.isOver = true
                state.follow = nil  // the request that it keeps leads back here
            default: break
            }
            return (follow, state.holdEnd)
        }
        follow?(event)
        guard let holdEnd else { return }
        if case .finished = event {
            holdEnd { [self] in enqueue(event) }
        } else {
            enqueue(event)
        }
    }

    /// Tells of a head, unless an engine has.
    func tellHead(of response: HTTPResponse) {
        if !state.withLock({ $0.hasHead }) { tell(.head(response.status, response.headers)) }
    }

    private func enqueue(_ event: RequestEvent) {
        let isFirst = state.withLock { state in
            guard state.audience != nil else { return false }
            state.queue.append(event)
            defer { state.isTelling = true }
            return !state.isTelling
        }
        if isFirst { tellObservers() }
    }

    /// Tells until nothing is left; with the end, everybody is let go.
    private func tellObservers() {
        while let (event, audience) = next() {
            for observer in audience.observers where observer.wants(event) {
                observer.observe(event, of: audience.call)
            }
            guard case .finished = event else { continue }
            state.withLock { state in
                (state.audience, state.queue) = (nil, [])
                state.holdEnd = { $0() }
            }
        }
    }

    private func next() -> (RequestEvent, Audience)? {
        state.withLock { state in
            guard let audience = state.audience, !state.queue.isEmpty else {
                state.isTelling = false
                return nil
            }
            return (state.queue.removeFirst(), audience)
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
