import Foundation

/// Tells the steps of one call to whoever watches it: its task, and the observers of its service.
final class CallWatch: Sendable {
    /// Holds the end of a call back until it may be told.
    typealias EndHold = @Sendable (_ tell: @escaping @Sendable () -> Void) -> Void

    private let call: ObservedCall
    private let observers: [any RequestObserver]
    private let follow: (@Sendable (RequestEvent) -> Void)?
    private let holdEnd: EndHold
    /// Whether somebody below has told of a head in this attempt.
    private let hasHead = Locked(false)

    /// - Returns: Nil where nobody watches, so that nothing is told.
    init?(
        _ endpoint: any Endpoint, of client: NetworkClient, in scope: CallScope,
        following follow: (@Sendable (RequestEvent) -> Void)?, holdingEnd holdEnd: @escaping EndHold = { $0() }
    ) {
        observers = client.observers.current
        guard !observers.isEmpty || follow != nil else { return nil }
        call = ObservedCall(
            id: observers.isEmpty ? CallWatch.nobody : scope.id(using: client.random), endpoint: endpoint)
        self.follow = follow
        self.holdEnd = holdEnd
    }

    private static let nobody = UUID()

    /// Tells a step.
    func tell(_ event: RequestEvent) {
        follow?(event)
        guard !observers.isEmpty else { return }
        switch event {
        case .attempting: hasHead.withLock { $0 = false }
        case .head: hasHead.withLock { $0 = true }
        case .finished: return holdEnd { [self] in tellObservers(event) }
        default: break
        }
        tellObservers(event)
    }

    /// Tells of a head, unless an engine has.
    func tellHead(of response: HTTPResponse) {
        if !observers.isEmpty, !hasHead.withLock({ $0 }) { tell(.head(response.status, response.headers)) }
    }

    private func tellObservers(_ event: RequestEvent) {
        for observer in observers { observer.observe(event, of: call) }
    }

    /// What a request takes with it, so that whoever sees it below can tell; nil where no observer wants to know.
    var below: RequestWatch? {
        observers.isEmpty ? nil : RequestWatch { [self] in tell(RequestEvent($0)) }
    }

    /// What counts the bytes for observers that want to know; nil where none does.
    func makeMeter(on clock: NetworkClock) -> ProgressMeter? {
        observers.contains(where: \.wantsProgress) ? ProgressMeter(clock: clock) : nil
    }

    /// Has the observers that want it told of progress.
    func observe(_ meter: ProgressMeter) {
        let counting = observers.filter(\.wantsProgress)
        guard !counting.isEmpty else { return }
        meter.observe(on: DispatchQueue(label: "networking.progress")) { [call] progress in
            for observer in counting { observer.observe(.progress(progress), of: call) }
        }
    }
}
