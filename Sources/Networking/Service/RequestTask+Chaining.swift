import Foundation

/// Tasks that are derived from other tasks. A derived task has its own callbacks and its own result, which is set once.
/// Cancelling a derived task also cancels the calls that it waits for, except calls that another task or observer waits
/// for.
extension RequestTask {
    /// Returns a task whose value is the transformed value of this task. `transform` is called on the thread on which
    /// the call ends, not on a queue.
    public func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) throws -> Other) -> RequestTask<Other> {
        derived { result, derived in derived.settle(Result { try result.get().map(transform) }) }
    }

    /// Returns a task whose value is the result of an asynchronous closure. The closure runs in a task of its own,
    /// which is cancelled when the returned task is cancelled.
    @_disfavoredOverload  // a synchronous closure needs no task
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) async throws -> Other
    ) -> RequestTask<Other> {
        derived(sharingCallbacks: false) { result, derived in
            switch result {
            case .failure(let error): derived.settle(.failure(error))
            case .success(let response):
                let task = Task {
                    do { derived.settle(.success(Response(try await transform(response.value), response.http))) } catch
                    {
                        derived.settle(.failure(error is CancellationError ? NetworkError(.cancelled) : error))
                    }
                }
                derived.cancellations.add { task.cancel() }
            }
        }
    }

    /// Returns a task with the value of another task. `next` creates the other task from the value of this task. The
    /// progress, the attempts and the request are those of the other task.
    public func flatMap<Other: Sendable>(
        _ next: @escaping @Sendable (Value) throws -> RequestTask<Other>
    ) -> RequestTask<Other> {
        derived(track: CallTrack()) { result, derived in
            do { derived.follow(try next(result.get().value)) } catch {
                if case .failure = result { derived.track.follow(self.track) }
                derived.settle(.failure(error))
            }
        }
    }

    /// Returns a task that turns the error of this task into a value, or into another error. If this task has a value,
    /// the returned task has the same value. The response of a recovered task is the response of the failed call. If
    /// the call received no response, the recovered task has a response with status 0.
    public func recover(_ action: @escaping @Sendable (any Error) throws -> Value) -> RequestTask<Value> {
        derived { result, derived in
            guard case .failure(let error) = result, !derived.isCancelled else { return derived.settle(result) }
            let request = derived.request ?? HTTPRequest(.get, URL(fileURLWithPath: "/"))
            let http = derived.track.lastResponse ?? HTTPResponse(0, to: request.leavingCall())
            derived.settle(Result { Response(try action(error), http) })
        }
    }

    /// Creates a task that waits for this task. `settle` then gets the outcome of this task, and settles the new task.
    ///
    /// - Parameters:
    ///   - track: The track of the new task. Default: the track of this task, because it is the same call.
    ///   - sharesCallbacks: Whether the observers are notified of the end of the call only after the callbacks of the
    ///     new task have run. Default: true, provided that the new task has the track of this task. Pass false if the
    ///     new task may end long after the call.
    private func derived<Other: Sendable>(
        track: CallTrack? = nil, sharingCallbacks sharesCallbacks: Bool = true,
        _ settle: @escaping @Sendable (Result<Response<Value>, any Error>, RequestTask<Other>) -> Void
    ) -> RequestTask<Other> {
        let task = RequestTask<Other>(
            of: endpoint, track: track ?? self.track,
            callbacks: track == nil && sharesCallbacks ? callbacks : PendingCallbacks(), waitingFor: [interest])
        settlement.observe { [self] result in
            Trampoline.run { [self] in
                withExtendedLifetime(self) {}
                // A cancelled task does not start its next step.
                if case .success = result, task.isCancelled {
                    task.settle(.failure(NetworkError(.cancelled)))
                } else {
                    settle(result, task)
                }
            }
        }
        return task
    }
}

extension RequestTask {
    /// Returns a task with the values of two tasks. It fails with the first error. This error also cancels the other
    /// task, unless something else waits for that task.
    public static func all<First, Second>(
        _ first: RequestTask<First>, _ second: RequestTask<Second>
    ) -> RequestTask where Value == (First, Second) {
        let task = RequestTask(of: first.endpoint, track: first.track, waitingFor: [first.interest, second.interest])
        let finish: @Sendable () -> Void = { [first, second] in
            guard case .success(let one) = first.settlement.outcome, case .success(let two) = second.settlement.outcome
            else { return }
            task.settle(.success(Response((one.value, two.value), two.http)))
        }
        let left = Locked(2)
        first.settlement.observe { task.note($0, left, finish) }
        second.settlement.observe { task.note($0, left, finish) }
        return task
    }

    /// Returns a task with the values of all tasks, in the order of the tasks; nil if the array is empty.
    public static func all<Element>(_ tasks: [RequestTask<Element>]) -> RequestTask? where Value == [Element] {
        guard let first = tasks.first else { return nil }
        let task = RequestTask(of: first.endpoint, track: first.track, waitingFor: tasks.map(\.interest))
        let finish: @Sendable () -> Void = {
            let responses = tasks.compactMap { try? $0.settlement.outcome?.get() }
            guard let last = responses.last else { return }
            task.settle(.success(Response(responses.map(\.value), last.http)))
        }
        let left = Locked(tasks.count)
        for one in tasks { one.settlement.observe { task.note($0, left, finish) } }
        return task
    }

    /// Records that one of several tasks has settled. The first error settles this task, and so does the last value.
    private func note<One>(
        _ outcome: Result<Response<One>, any Error>, _ left: Locked<Int>, _ finish: @escaping @Sendable () -> Void
    ) {
        switch outcome {
        case .failure(let error):
            // The other tasks fail, too, when they are cancelled, perhaps on another thread and before this task
            // settles.
            let isFirst = left.withLock { left in
                defer { left = .min }
                return left > 0
            }
            guard isFirst else { return }
            Trampoline.run { [self] in
                interest.dropSources()
                settle(.failure(error))
            }
        case .success:
            let isLast = left.withLock { left in
                guard left > 0 else { return false }
                left -= 1
                return left == 0
            }
            if isLast { Trampoline.run(finish) }
        }
    }
}

/// The state of a task that takes over the outcome of another task.
///
/// A task that polls, `poll() = task.flatMap { $0.isDone ? last : poll() }`, creates one task in each round. Each task
/// takes over the outcome of the next task. When a task A begins to follow a task B, the followers of A follow B
/// instead. Therefore the first task always follows the newest task, and the tasks in between are released.
struct Successor<Value: Sendable>: Sendable {
    fileprivate struct Follower: Sendable {
        weak var task: RequestTask<Value>?
    }

    /// The task whose outcome this task takes over; nil before this task follows another task, and after this task has
    /// settled.
    fileprivate var target: RequestTask<Value>?
    /// The tasks that take over the outcome of this task. The references are weak: a follower that is still needed is
    /// retained by its observers.
    fileprivate var followers: [Follower] = []
}

extension Locked {
    /// Settles the followers with the outcome, and releases them.
    func settle<Value>(_ outcome: Settlement<Response<Value>>.Outcome) where State == Successor<Value> {
        let before = withLock { state in
            defer { state = Successor() }
            return state
        }
        for follower in before.followers {
            guard let task = follower.task else { continue }
            Trampoline.run { task.settle(outcome) }
        }
    }
}

extension RequestTask {
    /// Takes over the outcome, the progress and the attempts of another task.
    func follow(_ other: RequestTask) {
        // The other task may wait for a task that was derived from this task. This task would then wait for itself.
        guard other !== self, !other.interest.waits(for: interest) else {
            return settle(.failure(NetworkError.waitsForItself))
        }
        let followers = successor.withLock { state in
            defer { state = Successor(target: other) }
            return state.followers.compactMap(\.task)
        }
        for follower in followers { follower.attach(to: other, isPassedOver: false) }
        attach(to: other, isPassedOver: !followers.isEmpty)
    }

    private func attach(to other: RequestTask, isPassedOver: Bool) {
        var target = other
        var passed: [TaskInterest] = []
        // The track follows before the task. When the target settles, this task settles, too, and already has the
        // report and the attempts of the target.
        track.follow(target.track)
        while let next = target.successor.withLock({ state in
            if state.target == nil { state.followers.append(.init(task: self)) }
            return state.target
        }) {
            guard next !== self else { return settle(.failure(NetworkError.waitsForItself)) }
            passed.append(target.interest)
            target = next
            track.follow(target.track)
        }
        successor.withLock { $0.target = target }
        interest.follow(target.interest, isPassedOver: isPassedOver)
        for task in passed { task.passOver() }
        if let outcome = target.settlement.outcome { target.successor.settle(outcome) }
    }
}

extension NetworkError {
    fileprivate static var waitsForItself: NetworkError {
        NetworkError(
            .invalidRequest,
            reason:
                "flatMap: the closure returned the derived task, or a task that waits for it; the derived task would wait for itself"
        )
    }
}
