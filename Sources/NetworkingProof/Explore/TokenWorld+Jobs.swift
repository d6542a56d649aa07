import Foundation
import Networking

// The effects that the machine requests, and the steps of its jobs.
extension TokenWorld {
    mutating func perform(_ effects: [AccessTokenMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .start(let job): start(job)
            case .cancel: break  // a cancelled refresh may still end in any way
            case .release(let waiter, let refreshed): release(waiter, refreshed: refreshed)
            case .fail(let waiter, _): fail(waiter)
            case .announce(let event): hear(event)
            case .keep: keeper = keeper ?? .due
            }
        }
    }

    private mutating func start(_ job: AccessTokenMachine.Job) {
        noteStart(of: job)
        let isDirect = !options.hasStore
        if isDirect { checkSpent(job.token, counts: true) }
        running.append(
            Running(job: job, changes: changes, stage: isDirect ? .refreshing(old: job.token, stored: nil) : .waiting))
    }

    private mutating func checkSpent(_ old: AccessToken?, counts: Bool) {
        // Without a store, an abandoned refresh that still runs may use the same token.
        guard let old, counts, options.hasStore || !running.contains(where: \.isAbandoned) else { return }
        rules.spend(isSpent: spent.contains(old.value))
    }

    private mutating func hear(_ event: AccessTokenSupervisor.Event) {
        switch event {
        case .refreshed(let token): rules.report(token: token.value, whileCurrentIs: self.token)
        case .sessionOver: rules.reportSessionOver()
        case .unreachable, .notStored: break
        }
    }

    mutating func make(_ step: TokenMove.JobStep, in index: Int) {
        let job = running[index].job
        switch step {
        case .read: read(index)
        case .write: write(index)
        case .writeInVain:
            guard case .updating(let update) = running[index].stage else { return }
            running[index].stage = .deciding(stored: update.stored)
        case .decide: decide(index)
        case .giveUp: giveUp(index)
        case .readInVain: end(index, isFailure: true) { $0.fail(job, with: Unreachable(), isLogOut: false) }
        case .refresh(let life): refresh(index, life)
        case .reject: reject(index)
        case .fail: end(index, isFailure: true) { $0.fail(job, with: Unreachable(), isLogOut: false) }
        case .save: save(index)
        case .store: store(index)
        case .storeInVain:
            guard case .storing(let token, _, _, _) = running[index].stage else { return }
            succeed(index, with: token, from: .refresh, isKept: false)
        case .passLimit: passLimit(index)
        }
    }

    /// Reads the store, and prepares the pending change if the store does not contain it yet.
    private mutating func read(_ index: Int) {
        running[index].stage = .deciding(stored: store)
        guard let (generation, change) = machine.keeping else { return }
        if case .write(let token) = change.step(finding: store) {
            running[index].stage = .updating(Update(generation: generation, token: token, stored: store))
        } else {
            machine.noteKept(generation: generation)
        }
    }

    private mutating func write(_ index: Int) {
        guard case .updating(let update) = running[index].stage else { return }
        if write(update) { running[index].stage = .deciding(stored: store) } else { read(index) }
    }

    /// Decides the next step of the job from the token that was in the store.
    private mutating func decide(_ index: Int) {
        guard case .deciding(let stored) = running[index].stage else { return }
        let job = running[index].job
        guard job.generation == machine.tokenGeneration else {
            return end(index) { $0.fail(job, with: CancellationError(), isLogOut: false) }
        }
        switch job.step(finding: stored, isUnsaved: machine.isUnsaved(finding: stored), at: now) {
        case .adopt(let token): succeed(index, with: token, from: .elsewhere, isKept: true)
        case .findNothing: findNothing(index)
        case .remainOver, .logOut: rejected(index)
        case .refresh(let old):
            checkSpent(old, counts: running[index].counts)
            running[index].stage = .refreshing(old: old, stored: stored)
        }
    }

    private mutating func findNothing(_ index: Int) {
        let (job, now) = (running[index].job, now)
        if !isStoreKnown { for index in running.indices { running[index].isStale = true } }
        isStoreKnown = true
        end(index) { $0.findNothing(job, at: now) }
    }

    private mutating func refresh(_ index: Int, _ life: Life) {
        guard case .refreshing(let old, let stored) = running[index].stage else { return }
        if rumour == old { rumour = nil }  // the app must not set a token whose refresh token is spent
        let token = newToken(life, in: old?.session ?? running[index].job.session, for: old)
        guard options.hasStore else { return succeed(index, with: token, from: .refresh, isKept: true) }
        running[index].stage = .saving(token, old: old, stored: stored)
    }

    /// Makes the server refuse the refresh, and revokes the old token.
    private mutating func reject(_ index: Int) {
        guard case .refreshing(let old, let stored) = running[index].stage else { return }
        if let old { revoked.insert(old.value) }
        guard options.hasStore else { return rejected(index) }
        running[index].stage = .refused(stored: stored, later: store)
    }

    private mutating func giveUp(_ index: Int) {
        guard case .refused(let stored, let later) = running[index].stage else { return }
        let job = running[index].job
        guard job.generation == machine.tokenGeneration else {
            return end(index) { $0.fail(job, with: CancellationError(), isLogOut: false) }
        }
        guard let later, later.value != stored?.value, !machine.isUnsaved(finding: later) else {
            return rejected(index)
        }
        succeed(index, with: later, from: .elsewhere, isKept: true)
    }

    private mutating func save(_ index: Int) {
        guard case .saving(let token, let old, let stored) = running[index].stage else { return }
        let job = running[index].job
        if job.generation == machine.tokenGeneration {
            running[index].stage = .storing(token, old: old, stored: stored, later: store)
        } else {
            end(index) { $0.fail(job, with: CancellationError(), isLogOut: false) }
        }
    }

    private mutating func store(_ index: Int) {
        guard case .storing(let token, let old, let stored, let later) = running[index].stage else { return }
        let job = running[index].job
        if later == stored || later == old {
            guard store == later else {
                running[index].stage = .saving(token, old: old, stored: stored)  // the store is read again
                return
            }
            store = token
            // If the refresh was superseded after the store was read, its token counts as written by another process.
            isForeign = running[index].changes != changes
            succeed(index, with: token, from: .refresh, isKept: true)
        } else if job.generation != machine.tokenGeneration {
            end(index) { $0.fail(job, with: CancellationError(), isLogOut: false) }
        } else if machine.isUnsaved(finding: later) {
            succeed(index, with: token, from: .refresh, isKept: false)
        } else if let later {
            succeed(index, with: later, from: .elsewhere, isKept: true)
        } else {
            rejected(index)
        }
    }

    private mutating func rejected(_ index: Int) {
        let job = running[index].job
        // If the first token could not be fetched, no session has ended.
        let endsSession = running[index].counts && job.token != nil
        end(index, isFailure: true) { $0.fail(job, with: AccessToken.Rejected(), isLogOut: true) }
        guard endsSession else { return }
        rules.reject(isOver: machine.over != nil)
        rules.endSession(of: machine.token?.value)
    }

    private mutating func succeed(
        _ index: Int, with token: AccessToken, from origin: AccessTokenMachine.Origin, isKept: Bool
    ) {
        let job = running[index].job
        let isCurrent = running[index].changes == changes
        let now = now
        if isCurrent {
            let isOther = isStoreKnown && token.session != session
            change(
                to: token, in: token.session ?? session, by: origin == .refresh ? .refresh : .store,
                beginsSession: isOther)
        }
        end(index, isCurrent: isCurrent) { $0.succeed(job, with: token, from: origin, isKept: isKept, at: now) }
        if isCurrent { rules.succeed(isAdopted: machine.token == token) }
    }

    /// Notes that the current token changes.
    mutating func change(
        to token: AccessToken?, in session: UUID, by source: TokenRules.Source, beginsSession: Bool
    ) {
        changes += 1
        (self.token, self.session, isStoreKnown) = (token?.value, session, true)
        for index in running.indices { running[index].isStale = true }
        rules.change(
            toToken: token != nil, by: source, isExpired: token?.expiresAt.map { $0 <= now } ?? false,
            beginsSession: beginsSession)
    }

    /// Ends a job.
    ///
    /// - Parameters:
    ///   - isFailure: Whether the job has brought no token.
    ///   - isCurrent: Whether the token is the same as when the job began, if this is already known.
    private mutating func end(
        _ index: Int, isFailure: Bool = false, isCurrent: Bool? = nil,
        _ event: (inout AccessTokenMachine) -> [AccessTokenMachine.Effect]
    ) {
        let current = machine.token
        let isCurrent = isCurrent ?? (running[index].changes == changes)
        if isFailure, running[index].counts { rules.failRefresh(isOver: true) }
        running.remove(at: index)
        let effects = event(&machine)
        if !isCurrent { rules.succeedLate(isUnchanged: machine.token == current) }
        perform(effects)
    }

    private mutating func passLimit(_ index: Int) {
        let job = running[index].job
        let isFirst = running[index].counts && running[index].limits == 0
        if isFirst { rules.failRefresh(isOver: false) }
        running[index].limits = min(running[index].limits + 1, 2)
        let effects = machine.passTimeLimit(of: job, with: Unreachable())
        if isFirst { rules.passLimit(hasWaiters: machine.refresh?.waiters.isEmpty == false) }
        perform(effects)
    }
}

private struct Unreachable: Error {}

extension AccessTokenMachine {
    /// Whether the machine still waits for the result of a job.
    func isWanted(_ job: Job) -> Bool { refresh?.id == job.id && refresh?.isSuperseded == false }
}
