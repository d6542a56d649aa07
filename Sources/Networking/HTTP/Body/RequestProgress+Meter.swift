public import Foundation

extension RequestProgress {
    /// Counts the bytes of one call, in both directions and over all of its attempts.
    ///
    /// A ``RequestTask`` has its own meter. For an asynchronous call, create a meter and set it in the call's settings:
    ///
    /// ```swift
    /// let meter = RequestProgress.Meter()
    /// meter.observe { bar.doubleValue = $0.upload.fraction ?? 0 }
    /// try await photos.request(PhotoEndpoint.upload(file), with: RequestSettings { $0.progress = meter })
    /// ```
    ///
    /// Use a meter for one call only. A call that waits for the transfer of an identical call has no progress before
    /// its response.
    public final class Meter: Sendable {
        private struct Observer: Sendable {
            let queue: DispatchQueue
            let action: @Sendable (RequestProgress) -> Void
            /// Whether a run of `action` is scheduled on the queue. That run reads the newest progress.
            var isCalled = false
        }

        /// A meter that copies its progress from this meter.
        private struct Follower: Sendable {
            weak var meter: RequestProgress.Meter?
        }

        private struct State: Sendable {
            var upload = TransferCount()
            var download = TransferCount()
            var observers: [UInt64: Observer] = [:]
            var readers: [UInt64: AsyncStream<RequestProgress>.Continuation] = [:]
            var nextID: UInt64 = 0
            /// Whether there is progress that the readers have not received. One thread at a time notifies the readers,
            /// so that the newest progress arrives last.
            var hasChanges = false
            var isNotifying = false
            var isStream = false
            /// The meters that copy their progress from this meter.
            var followers: [Follower] = []
            var isOver = false

            var progress: RequestProgress { RequestProgress(upload: upload.progress, download: download.progress) }
        }

        private let clock: NetworkClock
        private let state = Locked(State())

        /// Creates a meter.
        ///
        /// - Parameter clock: The clock for measuring transfer rates.
        public init(clock: NetworkClock = .continuous) {
            self.clock = clock
        }

        deinit {
            for reader in state.withLock({ $0.readers }).values { reader.finish() }
        }

        /// The current progress of the call.
        public var current: RequestProgress { state.withLock { $0.progress } }

        /// Calls a closure on the main actor with the newest progress. The closure does not run for each change, but as
        /// often as the main queue has time for it. If bytes have already been transferred, the closure is first called
        /// with the current progress. The observation ends when the call ends or, if the body is read as a stream, when
        /// the body ends.
        @preconcurrency
        public func observe(_ action: @escaping @MainActor @Sendable (RequestProgress) -> Void) {
            observe(on: .main) { progress in MainActor.assumeIsolated { action(progress) } }
        }

        /// Calls a closure on a queue with the newest progress. The closure does not run for each change, but as often
        /// as the queue has time for it. If bytes have already been transferred, the closure is first called with the
        /// current progress. The observation ends when the call ends or, if the body is read as a stream, when the body
        /// ends.
        @preconcurrency
        public func observe(on queue: DispatchQueue, _ action: @escaping @Sendable (RequestProgress) -> Void) {
            var observer = Observer(queue: queue, action: action)
            let called: UInt64? = state.withLock { state in
                let hasProgress = state.progress != RequestProgress()
                let id = state.nextID
                state.nextID += 1
                observer.isCalled = hasProgress
                if !state.isOver { state.observers[id] = observer }
                return hasProgress ? id : nil
            }
            if let called { call(observer, called) }
        }

        /// Copies the progress of another meter from now on.
        func follow(_ other: RequestProgress.Meter) {
            let isOver = other.state.withLock { state in
                state.followers.append(Follower(meter: self))
                return state.isOver
            }
            adopt(other)
            if isOver { end() }
        }

        /// Stops reporting progress to another meter.
        func removeFollower(_ meter: RequestProgress.Meter) {
            state.withLock { $0.followers.removeAll { $0.meter === meter } }
        }

        /// Copies the current progress of another meter. This meter's lock is held while the other meter is read.
        /// Without the lock, an older progress could replace a newer progress if two threads copied at the same time.
        private func adopt(_ other: RequestProgress.Meter) {
            change { state in
                (state.upload, state.download) = other.state.withLock { ($0.upload, $0.download) }
            }
        }

        /// The progress as an asynchronous sequence. The sequence buffers only the newest value. It ends when the call
        /// ends or, if the body is read as a stream, when the body ends.
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

        /// Notes that the request's body is about to be sent from its beginning.
        ///
        /// - Parameter start: The number of bytes that the server already has. It differs from zero only if the body is
        ///   the rest of an upload.
        func beginUpload(at start: Int64 = 0, of total: Int64?) {
            change { $0.upload.begin(at: start, of: total) }
        }

        /// Notes that a body is about to be sent from its beginning.
        func begin(_ body: HTTPBody) {
            let (start, total) = body.part.map { ($0.start, $0.of) } ?? (0, body.length)
            beginUpload(at: Int64(start), of: total.map(Int64.init))
        }

        /// Notes that bytes of the request's body have been sent.
        func noteSent(_ count: Int) {
            change { [clock] in $0.upload.add(count, at: clock.now()) }
        }

        /// Notes that the response's body is about to be received.
        ///
        /// - Parameter start: The number of bytes that are already available, such as the offset at which a download
        ///   resumes.
        func beginDownload(at start: Int64, of total: Int64?) {
            change { $0.download.begin(at: start, of: total) }
        }

        /// Notes that bytes of the response's body have been received.
        package func noteReceived(_ count: Int) {
            change { [clock] in $0.download.add(count, at: clock.now()) }
        }

        /// Notes the fraction of the encoded bytes that has been received. Nil means that the body is not decoded.
        func noteEncoded(_ fraction: Double?) {
            change { $0.download.noteEncoded(fraction) }
        }

        /// Notes that the caller reads the body as a stream, so that bytes still arrive after the end of the call.
        func expectStream() {
            state.withLock { $0.isStream = true }
        }

        /// Notes the end of the call. No more bytes are transferred, unless the caller reads the body as a stream.
        ///
        /// - Parameter hasResponse: Whether the call returned a response. A failed call returns no body to the caller,
        ///   so its progress always ends here.
        func finish(hasResponse: Bool = true) {
            if !(hasResponse && state.withLock { $0.isStream }) { end() }
        }

        /// Notes that a body that the caller reads as a stream has ended or has been released.
        func finishStream() {
            if state.withLock({ $0.isStream }) { end() }
        }

        private func end() {
            // The closures are released outside the lock, because an object that they retain may read the progress in
            // its `deinit`.
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
            let (called, mustNotify) = state.withLock { state -> ([UInt64: Observer], Bool) in
                let before = state.progress
                change(&state)
                guard state.progress != before else { return ([:], false) }
                let called = state.observers.filter { !$0.value.isCalled }
                for id in called.keys { state.observers[id]?.isCalled = true }
                guard !state.readers.isEmpty else { return (called, false) }
                state.hasChanges = true
                defer { state.isNotifying = true }
                return (called, !state.isNotifying)
            }
            for (id, observer) in called { call(observer, id) }
            if mustNotify { notifyReaders() }
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

        /// Calls an observer on its queue. The observer gets this progress even if the call ends meanwhile.
        private func call(_ observer: Observer, _ id: UInt64) {
            observer.queue.async { [self] in
                let progress = state.withLock { state in
                    state.observers[id]?.isCalled = false
                    return state.progress
                }
                observer.action(progress)
            }
        }
    }
}
