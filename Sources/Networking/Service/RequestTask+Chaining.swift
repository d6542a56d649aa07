import Foundation

/// Tasks made of tasks. Each has a result of its own: it settles once, has its own callbacks, and can
/// be cancelled, which ends the calls that it waits for where nobody else waits for them.
extension RequestTask {
    /// A task with the value changed; `transform` is called wherever the call ends, not on a queue.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> RequestTask<Other> {
        derived { result, derived in
            derived.settle(Result { try result.get().map(transform) })
        }
    }

    /// A task whose value is the result of an asynchronous closure. The closure runs in a task of its own, which is
    /// cancelled with the new one.
    @_disfavoredOverload  // a synchronous closure needs no task
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) async throws -> Other
    ) -> RequestTask<Other> {
        derived { result, derived in
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

    /// A task with the value of another one that `next` makes of this one's. Its progress, its attempts and its request
    /// are those of that one.
    public func flatMap<Other: Sendable>(
        _ next: @escaping @Sendable (Value) throws -> RequestTask<Other>
    ) -> RequestTask<Other> {
        derived(track: CallTrack()) { result, derived in
            do {
                derived.follow(try next(result.get().value))
            } catch {
                if case .failure = result { derived.track.follow(self.track) }
                derived.settle(.failure(error))
            }
        }
    }

    /// A task that makes a value of the error, or throws another one; a value here is the new task's. Its response is
    /// that of the failed call, and where none came one of status 0.
    public func recover(_ action: @escaping @Sendable (any Error) throws -> Value) -> RequestTask<Value> {
        derived { result, derived in
            guard case .failure(let error) = result, !derived.isCancelled else { return derived.settle(result) }
            let request = derived.request ?? HTTPRequest(.get, URL(fileURLWithPath: "/"))
            let http = derived.track.lastResponse ?? HTTPResponse(0, to: request)
            derived.settle(Result { Response(try action(error), http) })
        }
    }

    /// Makes a task that is settled by what `settle` makes of this one's outcome.
    private func derived<Other: Sendable>(
        track: CallTrack? = nil,
        _ settle: @escaping @Sendable (Result<Response<Value>, any Error>, RequestTask<Other>) -> Void
    ) -> RequestTask<Other> {
        let task = RequestTask<Other>(
            of: endpoint, track: track ?? self.track,
            callbacks: track == nil ? callbacks : PendingCallbacks(), waitingFor: [interest])
        settlement.observe { [self] result in
            Trampoline.run { [self] in
                withExtendedLifetime(self) {}
                // What nobody wants any more is not begun.
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
    /// A task with the values of two; it fails with the first error, which ends the other one if nobody else waits for
    /// it.
    public static func all<First, Second>(
        _ first: RequestTask<First>, _ second: RequestTask<Second>
    ) -> RequestTask where Value == (First, Second) {
        let task = RequestTask(
            of: first.endpoint, track: first.track, waitingFor: [first.interest, second.interest])
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

    /// A task with the values of many, in their order; nil if there are none.
    public static func all<Element>(_ tasks: [RequestTask<Element>]) -> RequestTask? where Value == [Element] {
        guard let first = tasks.first else { return nil }
        let task = RequestTask(
            of: first.endpoint, track: first.track, waitingFor: tasks.map(\.interest))
        let finish: @Sendable () -> Void = {
            let responses = tasks.compactMap { try? $0.settlement.outcome?.get() }
            guard let last = responses.last else { return }
            task.settle(.success(Response(responses.map(\.value), last.http)))
        }
        let left = Locked(tasks.count)
        for one in tasks { one.settlement.observe { task.note($0, left, finish) } }
        return task
    }

    /// One of several tasks has settled: the first error ends this one, and the last value.
    private func note<One>(
        _ outcome: Result<Response<One>, any Error>, _ left: Locked<Int>, _ finish: @escaping @Sendable () -> Void
    ) {
        switch outcome {
        case .failure(let error):
            Trampoline.run { [self] in
                interest.dropSources()
                settle(.failure(error))
            }
        case .success:
            let isLast = left.withLock { left in
                left -= 1
                return left == 0
            }
            if isLast { Trampoline.run(finish) }
        }
    }
}
