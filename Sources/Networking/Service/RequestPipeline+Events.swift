import Foundation

extension RequestPipeline {
    /// Delivers the events of one call to its task and to the observers of its service.
    ///
    /// The task gets each event immediately. All observers get the events one at a time and in the same order, even if
    /// several threads report events. The observers are released after the call ends.
    final class Events: Sendable {
        /// The observers of a call, and the description of the call that the observers get. This type is a class,
        /// because it is copied for each event.
        private final class Audience: Sendable {
            let call: RequestEvent.Call
            let observers: [any RequestObserver]

            init(call: RequestEvent.Call, observers: [any RequestObserver]) {
                (self.call, self.observers) = (call, observers)
            }

            func observe(_ event: RequestEvent) {
                for observer in observers where observer.wants(event) { observer.observe(event, of: call) }
            }
        }

        private struct State: Sendable {
            /// Nil after the call ends. The audience is nil then, too, because a request that outlives the call must
            /// not retain the task, the observers or the endpoint.
            var track: CallTrack?
            var audience: Audience?
            var queue = DeliveryQueue<RequestEvent>()
            /// Whether a transport has reported a head for the current request of the redirect chain.
            var hasHead = false
            /// Whether the end of the call has been reported.
            var isOver = false
            /// Whether further events are reported after the end of the call.
            var isLasting = false

            /// Records an event.
            ///
            /// - Returns: The audience to which the caller has to deliver the event, and then the queued events; nil if
            ///   there is no audience. Also nil if another delivery is in progress; that delivery also delivers this
            ///   event.
            mutating func take(_ event: RequestEvent) -> Audience? {
                guard !isOver || isLasting else { return nil }
                switch event {
                case .attemptStarted, .redirected: hasHead = false
                case .head: hasHead = true
                case .finished: (isOver, track) = (true, nil)
                default: break
                }
                guard let audience else { return nil }
                if queue.begin() { return audience }
                queue.append(event)
                return nil
            }
        }

        private let state: Locked<State>

        private init(_ audience: Audience?, for track: CallTrack?) {
            state = Locked(State(track: track, audience: audience))
        }

        /// Returns the events of a call. Nil if the call has neither a task nor an observer.
        ///
        /// - Parameter own: The observers of this call only.
        static func of(
            _ endpoint: any Endpoint, on client: NetworkClient, _ own: [any RequestObserver], in scope: CallScope,
            for track: CallTrack? = nil
        ) -> Events? {
            let observers = own.isEmpty ? client.observers.current : client.observers.current + own
            guard !observers.isEmpty else { return track.map { Events(nil, for: $0) } }
            let call = RequestEvent.Call(id: scope.id(using: client.configuration.random), endpoint: endpoint)
            return Events(Audience(call: call, observers: distinct(observers)), for: track)
        }

        /// Returns the observers; an object that is registered more than once is returned once.
        private static func distinct(_ observers: [any RequestObserver]) -> [any RequestObserver] {
            guard observers.count > 1 else { return observers }
            var objects: Set<ObjectIdentifier> = []
            return observers.filter { observer in
                guard type(of: observer) is AnyClass else { return true }
                return objects.insert(ObjectIdentifier(observer as AnyObject)).inserted
            }
        }

        /// Reports the beginning of the call. Asks each registered observer for its observer of this call; from now on,
        /// the returned observers get the events. (Some pipelines only create a request, and begin no call.)
        func begin() {
            let registered = state.withLock { $0.audience }
            let audience = registered.map { audience in
                Audience(call: audience.call, observers: audience.observers.map { $0.observer(of: audience.call) })
            }
            state.withLock { $0.audience = audience }
            report(.started)
        }

        /// Reports an event, unless the end of the call has been reported.
        func report(_ event: RequestEvent) {
            let (track, audience) = state.withLock { ($0.track, $0.take(event)) }
            track?.note(event)
            if let audience { deliver(event, to: audience) }
        }

        /// Reports the end of the call to the observers. The task is notified earlier, because its callbacks run before
        /// the observers are notified.
        func finish(_ report: CallReport) {
            let event = RequestEvent.finished(report)
            if let audience = state.withLock({ $0.take(event) }) { deliver(event, to: audience) }
        }

        /// Returns a closure that reports events after the end of the call; nil if there are no observers. The closure
        /// retains the observers.
        var reporterAfterCall: (@Sendable (RequestEvent) -> Void)? {
            let hasAudience = state.withLock { state in
                state.isLasting = state.audience != nil
                return state.isLasting
            }
            guard hasAudience else { return nil }
            return { [self] in report($0) }
        }

        private func deliver(_ first: RequestEvent, to audience: Audience) {
            var next: RequestEvent? = first
            while let event = next {
                audience.observe(event)
                if case .finished = event { endDelivery() }
                next = state.withLock { $0.queue.next() }
            }
        }

        /// Releases the observers after the last event.
        private func endDelivery() {
            let ended = state.withLock { state -> State? in
                guard !state.isLasting else { return nil }
                defer {
                    state.audience = nil
                    state.queue.removeAll()
                }
                return state
            }
            // Released outside the lock: the `deinit` of an observer may use the call.
            withExtendedLifetime(ended) {}
        }

        /// Reports the head of a response, unless a transport has reported it.
        func reportHead(of response: HTTPResponse) {
            if !state.withLock({ $0.hasHead }) { report(.head(response.status, response.headers)) }
        }

        /// The closure through which transports and handlers report events.
        var receiver: @Sendable (RequestSignal) -> Void { { [self] in report(RequestEvent($0)) } }

        /// Returns a meter if an observer needs the progress; otherwise nil.
        func makeMeter(on clock: NetworkClock) -> RequestProgress.Meter? {
            wantsProgress ? RequestProgress.Meter(clock: clock) : nil
        }

        /// Reports the progress to the observers that need it.
        func observe(_ meter: RequestProgress.Meter) {
            guard wantsProgress else { return }
            // Without the target, each call whose progress is reported would have a thread of its own.
            let queue = DispatchQueue(label: "networking.progress", target: .global(qos: .utility))
            meter.observe(on: queue) { [weak self] in self?.report(.progress($0)) }
        }

        private var wantsProgress: Bool {
            state.withLock { $0.audience }?.observers.contains(where: \.wantsProgress) ?? false
        }
    }
}

extension RequestObserver {
    fileprivate func wants(_ event: RequestEvent) -> Bool {
        if case .progress = event { wantsProgress } else { true }
    }
}
