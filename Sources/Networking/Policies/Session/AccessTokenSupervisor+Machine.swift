import Foundation

// Runs the machine and performs its effects.
extension AccessTokenSupervisor {
    /// Handles one event under the lock, and performs its effects outside of the lock.
    func run(_ event: (inout AccessTokenMachine, Date) -> [AccessTokenMachine.Effect]) {
        handle { event(&$0.machine, $1) }
    }

    private func handle(_ event: (inout State, Date) -> [AccessTokenMachine.Effect]) {
        let now = clock.date()
        let (effects, isNew) = state.withLock { state in
            let (generation, isUnread) = (state.machine.tokenGeneration, state.machine.isUnread)
            let effects = event(&state, now)
            // Jobs start under the lock, so that a job can be cancelled as soon as another thread can know of it.
            for case .start(let job) in effects { state.jobs[job.id] = start(job) }
            // Events are queued under the lock, so that changes are reported in the order in which they occurred.
            for case .announce(let event) in effects { events.enqueue(event) }
            let isNew = generation != state.machine.tokenGeneration || isUnread && !state.machine.isUnread
            if isNew { tokens.enqueue(state.machine.token) }
            return (effects, isNew)
        }
        if isNew { tokens.deliver() }
        perform(effects)
    }

    /// Waits for the effect that ends a wait.
    ///
    /// - Parameter call: The call that waits; nil if other code waits.
    /// - Returns: The generation of the token that a refresh has brought meanwhile; nil if no refresh has brought a
    ///   token.
    func wait(
        for call: SessionTicket.Call? = nil,
        _ event: (inout AccessTokenMachine, AccessTokenMachine.Waiter, Date) -> [AccessTokenMachine.Effect]
    ) async throws -> Int? {
        let turn = Settlement<Int?>()
        var waiter: AccessTokenMachine.Waiter = 0
        handle { state, now in
            waiter = state.nextWaiter
            state.nextWaiter += 1
            state.waiters[waiter] = (turn, call)
            return event(&state.machine, waiter, now)
        }
        do {
            return try await turn.value()
        } catch {
            state.withLock { state in
                state.waiters[waiter] = nil
                state.machine.leave(waiter)
            }
            throw error
        }
    }

    private func perform(_ effects: [AccessTokenMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .start: break  // in `handle`
            case .cancel(let id): state.withLock { $0.jobs.removeValue(forKey: id) }?.cancel()
            case .release(let waiter, let refreshed): turn(of: waiter)?.settle(.success(refreshed))
            case .fail(let waiter, let error): turn(of: waiter)?.settle(.failure(error))
            case .announce: events.deliver()
            case .keep: keep()
            }
        }
    }

    private func turn(of waiter: AccessTokenMachine.Waiter) -> Settlement<Int?>? {
        state.withLock { $0.waiters.removeValue(forKey: waiter) }?.turn
    }

    /// Rule 6: starts the task of a job and its time limits, which apply even if the task ignores its cancellation.
    private func start(_ job: AccessTokenMachine.Job) -> Task<Void, Never> {
        let limits = Task.detached { [self] in
            for _ in 0..<2 {
                do { try await clock.sleep(clock.now() + refreshTimeout) } catch { return }
                let error = NetworkError(.deadlineTimedOut, reason: textOfTimeLimit)
                run { machine, _ in machine.passTimeLimit(of: job, with: error) }
            }
        }
        return Task.detached { [self] in
            let refresh = RefreshMark()
            let finding: Result<Finding, any Error>
            do { finding = .success(try await refresh.run { try await result(of: job) }) } catch {
                finding = .failure(refresh.cause(of: error))
            }
            limits.cancel()
            end(job, with: finding)
        }
    }

    /// The reason of the error when the time limit has passed. It names calls that wait for the refresh, because the
    /// refresh itself may wait for one of these calls.
    private var textOfTimeLimit: String {
        let waiting = state.withLock { $0.waiters.values.compactMap(\.call) }
        let names = Set(waiting.prefix(100).map { $0.endpointName() }).sorted().prefix(3)
        let text = "the token refresh took longer than \(refreshTimeout.shortText) (refreshTimeout)"
        guard !names.isEmpty else { return text }
        return text
            + "; \(names.joined(separator: ", ")) waited for the refresh. The refresh must not make calls in new tasks"
    }

    private func end(_ job: AccessTokenMachine.Job, with finding: Result<Finding, any Error>) {
        run { machine, now in
            switch finding {
            case .success(.token(let token, let origin, let isKept)):
                machine.succeed(job, with: token, from: origin, isKept: isKept, at: now)
            case .success(.nothing):
                machine.findNothing(job, at: now)
            case .failure(let error):
                machine.fail(job, with: error, isLogOut: error.isEndOfSession)
            }
        }
        _ = state.withLock { $0.jobs.removeValue(forKey: job.id) }
        readStoreIfPostponed()
    }
}
