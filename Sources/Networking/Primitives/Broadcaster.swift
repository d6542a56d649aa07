public import Foundation

/// Tells any number of observers about a value that changes: the library's own observer.
///
/// Handlers are called in the order of the changes, one change at a time, and outside every lock. A handler may
/// publish, observe and cancel; what it publishes is delivered after the change that it is called with.
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
        /// Nothing more will come.
        let end: (@Sendable () -> Void)?
    }

    private struct State: Sendable {
        var current: Value?
        var receivers: [UInt64: Receiver] = [:]
        var nextID: UInt64 = 0
        var queue = DeliveryQueue<Delivery>()
    }

    private let state: Locked<State>

    /// Makes a broadcaster, with or without a current value to begin with.
    public init(_ current: Value? = nil) {
        state = Locked(State(current: current))
    }

    deinit {
        for receiver in state.withLock({ $0.receivers }).values { receiver.end?() }
    }

    /// The value published last, or the one given at the beginning.
    public var current: Value? { state.withLock { $0.current } }

    /// Calls a closure on the main actor after each change, until the token is cancelled or released.
    ///
    /// - Parameters:
    ///   - replayingCurrent: Whether the closure is called with the current value first, if there is one.
    ///   - handler: Is called with each new value, in order.
    /// - Returns: The token that owns the observation. Keep it for as long as you want to be told.
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
    ///   - queue: A serial queue on which to call the closure. With nil it is called before ``publish(_:)`` returns, on
    ///     the thread that publishes, or on another one that publishes at the same time.
    ///   - handler: Is called with each new value, in order.
    /// - Returns: The token that owns the observation. Keep it for as long as you want to be told.
    @preconcurrency
    public func observe(
        replayingCurrent: Bool = false, on queue: DispatchQueue?, _ handler: @escaping @Sendable (Value) -> Void
    ) -> ObservationToken {
        add(Receiver(handler: handler, queue: queue, end: nil), replayingCurrent: replayingCurrent)
    }

    private func add(_ receiver: Receiver, replayingCurrent: Bool) -> ObservationToken {
        let id = state.withLock { state in
            let id = state.nextID
            state.nextID += 1
            state.receivers[id] = receiver
            if replayingCurrent, let current = state.current {
                state.queue.append(Delivery(value: current, receivers: [id]))
            }
            return id
        }
        deliver()
        return ObservationToken { [weak self] in self?.stopTelling(id) }
    }

    /// Makes `value` the current one and tells every observer.
    public func publish(_ value: Value) {
        enqueue(value)
        deliver()
    }

    /// The same, unless it is the current one already.
    func publishChange(to value: Value) where Value: Equatable {
        let isNew = state.withLock { state in
            guard state.current != value else { return false }
            state.current = value
            state.queue.append(Delivery(value: value, receivers: state.receivers.keys.sorted()))
            return true
        }
        if isNew { deliver() }
    }

    /// Makes `value` the current one; the next ``deliver()`` notifies the observers. May be called under a lock.
    func enqueue(_ value: Value) {
        let old = state.withLock { state in
            defer {
                state.current = value
                state.queue.append(Delivery(value: value, receivers: state.receivers.keys.sorted()))
            }
            return state.current
        }
        withExtendedLifetime(old) {}  // released outside the lock: it may ask this broadcaster as it goes
    }

    /// The changes as an asynchronous sequence, which keeps every change until it is read, and ends with the
    /// broadcaster.
    ///
    /// - Parameter replayingCurrent: Whether the current value, if there is one, comes first.
    public func values(replayingCurrent: Bool = false) -> AsyncStream<Value> {
        AsyncStream { continuation in
            let receiver = Receiver(
                handler: { continuation.yield($0) }, queue: nil, end: { continuation.finish() })
            let token = add(receiver, replayingCurrent: replayingCurrent)
            continuation.onTermination = { _ in token.cancel() }
        }
    }

    private func stopTelling(_ id: UInt64) {
        _ = state.withLock { $0.receivers.removeValue(forKey: id) }
    }

    /// Delivers until nothing is left, unless another thread is delivering: so changes keep their order.
    func deliver() {
        guard state.withLock({ $0.queue.begin() }) else { return }
        while let delivery = state.withLock({ $0.queue.next() }) {
            for id in delivery.receivers { tell(id, delivery.value) }
        }
    }

    private func tell(_ id: UInt64, _ value: Value) {
        guard let receiver = self.receiver(id) else { return }
        guard let queue = receiver.queue else { return receiver.handler(value) }
        // Kept until then, so that nothing that was published is lost.
        queue.async { [self] in self.receiver(id)?.handler(value) }
    }

    private func receiver(_ id: UInt64) -> Receiver? {
        state.withLock { $0.receivers[id] }
    }
}
