import Foundation

// Runs the machine and performs its effects.
extension AccessTokenSupervisor {
    /// Handles one event under the lock, and performs its effects outside of the lock.
    func run(_ event: (inout AccessTokenMachine, Date) -> [AccessTokenMachine.Effect]) {
        handle { event(&$0.machine, $1) }
    }

    private func handle(_ event: (inout State, Date) -> [AccessTokenMachine.Effect]) {
        let now = clock.date()
        let effects = state.withLock { state in
            let effects = event(&state, now)
            // Under the lock, so that events are reported in the order in which they occurred.
            for case .announce(let event) in effects { events.enqueue(event) }
            return effects
        }
        perform(effects)
    }

    func wait(
        _ event: (inout AccessTokenMachine, AccessTokenMachine.Waiter, Date) -> [AccessTokenMachine.Effect]
    ) async throws -> AccessTokenMachine.Origin {
        let turn = Settlement<AccessTokenMachine.Origin>()
        var waiter: AccessTokenMachine.Waiter = 0
        handle { state, now in
            waiter = state.nextWaiter
            state.nextWaiter += 1
            state.waiters[waiter] = turn
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
            case .start(let job): start(job)
            case .cancel(let id): state.withLock { $0.jobs.removeValue(forKey: id) }?.cancel()
            case .release(let waiter, let origin): turn(of: waiter)?.settle(.success(origin))
            case .fail(let waiter, let error): turn(of: waiter)?.settle(.failure(error))
            case .announce: events.deliver()
            case .keep: keep()
            }
        }
    }

    private func turn(of waiter: AccessTokenMachine.Waiter) -> Settlement<AccessTokenMachine.Origin>? {
        state.withLock { $0.waiters.removeValue(forKey: waiter) }
    }

    /// Rule 6: starts the task of a job and its time limits, which apply even if the task ignores its cancellation.
    private func start(_ job: AccessTokenMachine.Job) {
        let limits = Task.detached { [self] in
            for _ in 0..<2 {
                do { try await clock.sleep(clock.now() + refreshTimeout) } catch { return }
                let error = NetworkError(
                    .deadlineTimedOut, reason: "the token refresh took longer than \(refreshTimeout.shortText)")
                run { machine, _ in machine.passTimeLimit(of: job, with: error) }
            }
        }
        let task = Task.detached { [self] in
            let refresh = RefreshMark()
            let finding: Result<Finding, any Error>
            do { finding = .success(try await refresh.run { try await result(of: job) }) } catch {
                finding = .failure(RefreshRejection.cause(of: error, in: refresh))
            }
            limits.cancel()
            end(job, with: finding)
        }
        let isWanted = state.withLock { state in
            guard state.machine.isWanted(job) else { return false }
            state.jobs[job.id] = task
            return true
        }
        // The token may have been set or removed before the task was stored in `jobs`. In this case, the task has not
        // been cancelled yet.
        if !isWanted { task.cancel() }
    }

    private func end(_ job: AccessTokenMachine.Job, with finding: Result<Finding, any Error>) {
        run { machine, now in
            switch finding {
            case .success(.token(let token, let origin, let isKept)):
                machine.succeed(job, with: token, from: origin, isKept: isKept, at: now)
            case .success(.nothing):
                machine.findNothing(job)
            case .failure(let error):
                machine.fail(job, with: error, isRejection: RefreshRejection.isRejection(error))
            }
        }
        _ = state.withLock { $0.jobs.removeValue(forKey: job.id) }
        readStoreIfPostponed()
    }
}
