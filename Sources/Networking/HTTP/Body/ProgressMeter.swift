public import Foundation

/// Counts the bytes of one call, in both directions and over all of its attempts.
///
/// A ``RequestTask`` has one of its own. For an asynchronous call make one and name it in the call's settings:
///
/// ```swift
/// let meter = ProgressMeter()
/// meter.observe { bar.doubleValue = $0.upload.fraction ?? 0 }
/// try await photos.request(PhotoEndpoint.upload(file), with: RequestSettings { $0.progress = meter })
/// ```
///
/// A meter serves one call. A call that waits for an equal one's transfer has no progress before its response.
public final class ProgressMeter: Sendable {
    private struct Observer: Sendable {
        let queue: DispatchQueue
        let action: @Sendable (RequestProgress) -> Void
        /// It has been called to the queue, where it will find the newest progress.
        var isCalled = false
    }

    /// A meter that shows what this one shows.
    private struct Follower: Sendable {
        weak let meter: ProgressMeter?
    }

    private struct State: Sendable {
        var upload = TransferCount()
        var download = TransferCount()
        var observers: [UInt64: Observer] = [:]
        var readers: [UInt64: AsyncStream<RequestProgress>.Continuation] = [:]
        var nextID: UInt64 = 0
        /// What the readers do not know yet; one thread at a time tells them, so that the newest comes last.
        var hasChanges = false
        var isNotifying = false
        var isStream = false
        /// The meters that tell what this one tells.
        var followers: [Follower] = []
        var isOver = false

        var progress: RequestProgress { RequestProgress(upload: upload.progress, download: download.progress) }
    }

    private let clock: NetworkClock
    private let state = Locked(State())

    /// Makes a meter.
    ///
    /// - Parameter clock: What the rates are measured by.
    public init(clock: NetworkClock = .continuous) {
        self.clock = clock
    }

    deinit {
        for reader in state.withLock({ $0.readers }).values { reader.finish() }
    }

    /// How far the call has come.
    public var current: RequestProgress { state.withLock { $0.progress } }

    /// Calls a closure on the main actor with the newest progress: not for each change, but as often as the main queue
    /// gets to it. Where bytes have passed already, it is called with these first. It ends with the call.
    @preconcurrency
    public func observe(_ action: @escaping @MainActor @Sendable (RequestProgress) -> Void) {
        observe(on: .main) { progress in MainActor.assumeIsolated { action(progress) } }
    }

    /// Calls a closure on a queue with the newest progress: not for each change, but as often as the queue gets to it.
    /// Where bytes have passed already, it is called with these first. It ends with the call.
    @preconcurrency
    public func observe(on queue: DispatchQueue, _ action: @escaping @Sendable (RequestProgress) -> Void) {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            if !state.isOver { state.observers[state.nextID] = Observer(queue: queue, action: action) }
            return state.progress == RequestProgress() || state.isOver ? nil : state.nextID
        }
        if let id { return call(id) }
        let end = state.withLock { $0.isOver && $0.progress != RequestProgress() ? $0.progress : nil }
        if let end { queue.async { action(end) } }
    }

    /// Tells from now on what another meter tells.
    func follow(_ other: ProgressMeter) {
        let isOver = other.state.withLock { state in
            state.followers.append(Follower(meter: self))
            return state.isOver
        }
        adopt(other)
        if isOver { end() }
    }

    /// Tells another one nothing any more.
    func removeFollower(_ meter: ProgressMeter) {
        state.withLock { $0.followers.removeAll { $0.meter === meter } }
    }

    /// Takes over what another one says just now. It is asked under this one's lock, so that of two threads the later
    /// one brings the newer.
    private func adopt(_ other: ProgressMeter) {
        change { state in
            (state.upload, state.download) = other.state.withLock { ($0.upload, $0.download) }
        }
    }

    /// The progress as an asynchronous sequence that keeps only the newest, and ends with the call.
    public var values: AsyncStream<RequestProgress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let (id, current): (UInt64?, RequestProgress) = state.withLock { state in
                defer { state.nextID += 1 }
                if !state.isOver { state.readers[state.nextID] = continuation }
                return (state.isOver ? nil : state.nextID, state.progress)
            }
            continuation.yield(current)
            guard let id else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.readers.removeValue(forKey: id) }
            }
        }
    }

    /// The request's body is about to be sent from its beginning.
    func beginUpload(total: Int?) {
        change { $0.upload.begin(at: 0, of: total.map(Int64.init)) }
    }

    /// Bytes of the request's body have gone.
    func noteSent(_ count: Int) {
        change { [clock] in $0.upload.add(count, at: clock.now()) }
    }

    /// The response's body is about to be received.
    ///
    /// - Parameter start: Where it goes on, where what was before is there already.
    func beginDownload(at start: Int64 = 0, of total: Int64?) {
        change { $0.download.begin(at: start, of: total) }
    }

    /// Bytes of the response's body were received.
    func noteReceived(_ count: Int) {
        change { [clock] in $0.download.add(count, at: clock.now()) }
    }

    /// The body is handed to somebody who will read it: the end of the call is not the end of the bytes.
    func expectStream() {
        state.withLock { $0.isStream = true }
    }

    /// The call is over: nothing more will pass, unless in a body that somebody reads.
    ///
    /// - Parameter wasAnswered: Whether that is so; a call that failed has given no body to anybody.
    func finish(wasAnswered: Bool = true) {
        if !(wasAnswered && state.withLock { $0.isStream }) { end() }
    }

    /// The body that somebody read is over, or was let go.
    func finishStream() {
        if state.withLock({ $0.isStream }) { end() }
    }

    private func end() {
        // Let go outside the lock: what a closure holds may ask for the progress as it goes.
        let before = state.withLock { state in
            defer {
                state.isOver = true
                (state.readers, state.observers, state.followers) = ([:], [:], [])
            }
            return state
        }
        for reader in before.readers.values { reader.finish() }
        for follower in before.followers { follower.meter?.end() }
    }

    private func change(_ change: (inout State) -> Void) {
        let (called, tells) = state.withLock { state -> ([UInt64], Bool) in
            let before = state.progress
            change(&state)
            guard state.progress != before else { return ([], false) }
            let called = state.observers.filter { !$0.value.isCalled }.map(\.key)
            for id in called { state.observers[id]?.isCalled = true }
            guard !state.readers.isEmpty else { return (called, false) }
            state.hasChanges = true
            defer { state.isNotifying = true }
            return (called, !state.isNotifying)
        }
        for id in called { call(id) }
        if tells { notifyReaders() }
        for follower in state.withLock({ $0.followers }) { follower.meter?.adopt(self) }
    }

    private func notifyReaders() {
        while true {
            let news = state.withLock { state -> (RequestProgress, [AsyncStream<RequestProgress>.Continuation])? in
                guard state.hasChanges else {
                    state.isNotifying = false
                    return nil
                }
                state.hasChanges = false
                return (state.progress, Array(state.readers.values))
            }
            guard let (progress, readers) = news else { return }
            for reader in readers { reader.yield(progress) }
        }
    }

    private func call(_ id: UInt64) {
        guard let observer = state.withLock({ $0.observers[id] }) else { return }
        observer.queue.async { [self] in
            let progress = state.withLock { state in
                state.observers[id]?.isCalled = false
                return state.progress
            }
            observer.action(progress)
        }
    }
}

enum ProgressOption: HTTPRequest.Option {
    static var defaultValue: ProgressMeter? { nil }
}

extension HTTPRequest {
    /// Counts the bytes of its call, for transports; nil if nobody observes them.
    public var progress: ProgressMeter? { self[option: ProgressOption.self] }
}
