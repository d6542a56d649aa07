public import Foundation

/// A source of changing values that notifies any number of observers.
///
/// Handlers are called in the order of the changes, one change at a time, and outside every lock. A handler may publish
/// values, and add and cancel observations. A value that a handler publishes is delivered after the value that is being
/// delivered.
///
/// ```swift
/// let token = reachability.statuses.observe(replayingCurrent: true) { [weak self] status in
///     self?.banner.isHidden = status.isReachable
/// }
/// ```
public final class Broadcaster<Value: Sendable>: Sendable {
    private struct Delivery: Sendable {
        let value: Value
        let receivers: [UInt64]
    }

    private struct Receiver: Sendable {
        let handler: @Sendable (Value) -> Void
        let queue: DispatchQueue?
        /// Called when the broadcaster is deallocated. No value follows after that.
        let end: (@Sendable () -> Void)?
    }

    private struct State: Sendable {
        var current: Value?
        var receivers: [UInt64: Receiver] = [:]
        var nextID: UInt64 = 0
        var queue = DeliveryQueue<Delivery>()

        /// Sets the current value, and queues it for every receiver. Returns the old value.
        mutating func set(_ value: Value) -> Value? {
            defer { current = value }
            queue.append(Delivery(value: value, receivers: receivers.keys.sorted()))
            return current
        }
    }

    private let state: Locked<State>
    /// Called outside every lock, after the first observation has begun or the last observation has ended.
    private let whenUsed: (@Sendable () -> Void)?
    /// Returns the object that publishes the values. Each token and each sequence retains this object, so that the
    /// object continues to publish values.
    private let owner: (@Sendable () -> (any AnyObject & Sendable)?)?
    /// Called for each new observation, with a closure. This closure delivers earlier values only to that observation.
    private let replay: (@Sendable (_ deliver: @escaping @Sendable ([Value]) -> Void) -> Void)?

    /// Creates a broadcaster with an optional initial value. Default: no value.
    public init(_ current: Value? = nil) {
        state = Locked(State(current: current))
        (whenUsed, owner, replay) = (nil, nil, nil)
    }

    init(
        whenUsed: @escaping @Sendable () -> Void, retaining owner: @escaping @Sendable () -> (any AnyObject & Sendable)?
    ) {
        state = Locked(State())
        (self.whenUsed, self.owner, replay) = (whenUsed, owner, nil)
    }

    /// Creates a broadcaster that delivers earlier values to each new observation, and has no current value.
    ///
    /// - Parameter replay: Called after an observation has begun, outside every lock. It may deliver the values later,
    ///   on any thread.
    package init(replaying replay: @escaping @Sendable (_ deliver: @escaping @Sendable ([Value]) -> Void) -> Void) {
        state = Locked(State())
        (whenUsed, owner, self.replay) = (nil, nil, replay)
    }

    deinit {
        for receiver in state.withLock({ $0.receivers }).values { receiver.end?() }
    }

    /// The value that was published last, or the initial value.
    public var current: Value? { state.withLock { $0.current } }

    /// Calls a closure on the main actor after each change, until the token is cancelled or released.
    ///
    /// - Parameters:
    ///   - replayingCurrent: Whether the closure is called with the current value first, if there is one.
    ///   - handler: The closure. It is called with each new value, in order.
    /// - Returns: The token that owns the observation. Store the token for as long as the observation is needed.
    @preconcurrency
    public func observe(
        replayingCurrent: Bool = false, _ handler: @escaping @MainActor @Sendable (Value) -> Void
    ) -> ObservationToken {
        observe(replayingCurrent: replayingCurrent, on: .main) { value in MainActor.assumeIsolated { handler(value) } }
    }

    /// Calls a closure on a queue after each change, until the token is cancelled or released.
    ///
    /// - Parameters:
    ///   - replayingCurrent: Whether the closure is called with the current value first, if there is one.
    ///   - queue: The serial queue on which the closure is called. If nil, the closure is called on the thread that
    ///     publishes the value, before ``publish(_:)`` returns. Exception: if several threads publish at the same time,
    ///     one of them calls the closure for all values.
    ///   - handler: The closure. It is called with each new value, in order.
    /// - Returns: The token that owns the observation. Store the token for as long as the observation is needed.
    @preconcurrency
    public func observe(
        replayingCurrent: Bool = false, on queue: DispatchQueue?, _ handler: @escaping @Sendable (Value) -> Void
    ) -> ObservationToken {
        let token = add(Receiver(handler: handler, queue: queue, end: nil), replayingCurrent: replayingCurrent)
        guard let owner = owner?() else { return token }
        return ObservationToken { withExtendedLifetime(owner) { token.cancel() } }
    }

    /// Whether there is an observation.
    var isObserved: Bool { state.withLock { !$0.receivers.isEmpty } }

    private func add(_ receiver: Receiver, replayingCurrent: Bool) -> ObservationToken {
        let (id, isFirst) = state.withLock { state in
            let id = state.nextID
            state.nextID += 1
            state.receivers[id] = receiver
            if replayingCurrent, let current = state.current {
                state.queue.append(Delivery(value: current, receivers: [id]))
            }
            return (id, state.receivers.count == 1)
        }
        deliver()
        if isFirst { whenUsed?() }
        replay? { [weak self] values in
            guard let self else { return }
            state.withLock { state in
                for value in values { state.queue.append(Delivery(value: value, receivers: [id])) }
            }
            deliver()
        }
        return ObservationToken { [weak self] in self?.remove(id) }
    }

    private func remove(_ id: UInt64) {
        let (removed, isUnused) = state.withLock { state in
            (state.receivers.removeValue(forKey: id), state.receivers.isEmpty)
        }
        if removed != nil, isUnused { whenUsed?() }
    }

    /// Sets the current value and notifies every observer.
    public func publish(_ value: Value) {
        enqueue(value)
        deliver()
    }

    /// Publishes `value`, unless it is equal to the current value.
    func publishChange(to value: Value) where Value: Equatable {
        let (isNew, old) = state.withLock { state in
            state.current == value ? (false, nil) : (true, state.set(value))
        }
        withExtendedLifetime(old) {}  // as in `enqueue(_:)`
        if isNew { deliver() }
    }

    /// Sets the current value. The next ``deliver()`` notifies the observers. This method may be called under a lock.
    func enqueue(_ value: Value) {
        let old = state.withLock { $0.set(value) }
        // The old value is released outside the lock, because its deinitializer may use this broadcaster.
        withExtendedLifetime(old) {}
    }

    /// Returns the changes as an asynchronous sequence. The sequence buffers every change until the change is read, and
    /// finishes when the broadcaster is deallocated.
    ///
    /// - Parameter replayingCurrent: Whether the sequence begins with the current value, if there is one.
    public func values(replayingCurrent: Bool = false) -> AsyncStream<Value> {
        AsyncStream { continuation in
            let receiver = Receiver(handler: { continuation.yield($0) }, queue: nil, end: { continuation.finish() })
            let token = add(receiver, replayingCurrent: replayingCurrent)
            let owner = owner?()
            continuation.onTermination = { _ in withExtendedLifetime(owner) { token.cancel() } }
        }
    }

    /// Delivers all queued changes, unless another thread is delivering them already. This preserves their order.
    func deliver() {
        guard state.withLock({ $0.queue.begin() }) else { return }
        while let delivery = state.withLock({ $0.queue.next() }) {
            for id in delivery.receivers { tell(id, delivery.value) }
        }
    }

    private func tell(_ id: UInt64, _ value: Value) {
        guard let receiver = self.receiver(id) else { return }
        guard let queue = receiver.queue else { return receiver.handler(value) }
        // The closure retains the broadcaster until the handler has run, so that no published value is lost.
        queue.async { [self] in self.receiver(id)?.handler(value) }
    }

    private func receiver(_ id: UInt64) -> Receiver? {
        state.withLock { $0.receivers[id] }
    }
}

/// An object that owns an observation. The observation ends when the token is cancelled or released.
///
/// Store the token for as long as you need the observation. The token can be cancelled on any thread, even inside the
/// handler. If the token is cancelled inside the handler, or on the queue on which the handler is called, the handler
/// is not called again.
public final class ObservationToken: Sendable {
    private let action: Locked<(@Sendable () -> Void)?>

    /// Creates a token that calls `action` once, when the token is cancelled or released.
    public init(_ action: @escaping @Sendable () -> Void) {
        self.action = Locked(action)
    }

    deinit {
        cancel()
    }

    /// Ends the observation. Further calls do nothing.
    public func cancel() {
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }
}
