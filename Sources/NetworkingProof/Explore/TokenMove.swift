import Networking

/// A possible next move in a ``TokenWorld``.
enum TokenMove: CustomStringConvertible, Sendable {
    enum CallerStep: Sendable {
        case begin, ask, enter, take, adapt, succeed, refuse, cancel
        /// The error handlers before the handler of the session end the call, or ask for a retry, or pass the refusal
        /// on.
        case endChain, retry, arrive
    }

    enum JobStep: Sendable {
        case read, readInVain, write, writeInVain, decide
        case refresh(TokenWorld.Life)
        case reject, fail
        case save, store, storeInVain, giveUp
        case passLimit
    }

    enum AppStep: Sendable {
        case logIn(TokenWorld.Life)
        case logOut, replace, passTime
    }

    enum StoreStep: Sendable {
        case keep, keepInVain, look, find
        case logOutElsewhere, logInElsewhere, refreshElsewhere
    }

    case caller(Int, CallerStep)
    case job(Int, JobStep)
    case app(AppStep)
    case store(StoreStep)

    var description: String {
        switch self {
        case .caller(let index, let step): "call \(index + 1): \(step)"
        case .job(let index, let step): "job \(index + 1): \(step)"
        case .app(let step): "app: \(step)"
        case .store(let step): "store: \(step)"
        }
    }
}

extension TokenWorld {
    var moves: [TokenMove] { callerMoves + jobMoves + appMoves + (options.hasStore ? storeMoves : []) }

    private var callerMoves: [TokenMove] {
        var moves: [TokenMove] = []
        for (index, caller) in callers.enumerated() {
            var steps: [TokenMove.CallerStep] =
                switch caller.phase {
                case .idle: mayBegin(index) ? [.begin] : []
                case .queued: [.ask, .cancel]
                case .entering: [.enter, .cancel]
                case .permitAcquired: [.adapt, .cancel]
                case .sent: [.succeed, .refuse]
                case .refused: chainSteps(of: index)
                case .waitingToPass, .waitingForRefresh: [.cancel]
                }
            if mayTake(index) { steps.append(.take) }
            moves += steps.map { .caller(index, $0) }
        }
        return moves
    }

    /// An app takes the token of the session before the call, or when the request is about to be sent.
    private func mayTake(_ index: Int) -> Bool {
        guard options.roles[index] == .own, callers[index].taken == nil, machine.token != nil else { return false }
        return callers[index].phase == .idle || callers[index].phase == .permitAcquired
    }

    /// A nested call is made by an error handler of the first call.
    private func mayBegin(_ index: Int) -> Bool {
        options.roles[index] != .nested || callers[0].phase == .refused
    }

    /// The next steps of a refused call. The call waits for the nested call, if there is one. A chain of handlers that
    /// hangs takes no step.
    private func chainSteps(of index: Int) -> [TokenMove.CallerStep] {
        guard index > 0 || !zip(callers, options.roles).contains(where: { $1 == .nested && $0.phase != .idle }) else {
            return [.cancel]
        }
        guard !options.roles[index].isFirst else { return [.arrive, .cancel] }
        return [.arrive, .endChain, .cancel] + (rules.calls[index].ownRetries == 0 ? [.retry] : [])
    }

    private var jobMoves: [TokenMove] {
        var moves: [TokenMove] = []
        for (index, job) in running.enumerated() {
            var steps: [TokenMove.JobStep] = []
            switch job.stage {
            case .waiting:
                guard job.job.kind != .refresh || !isLeased else { break }
                if !isWriting { steps = [.read] + failing(.readInVain) }
            case .deciding:
                steps = [.decide]
            case .refused:
                steps = [.giveUp]
            case .updating:
                steps = [.write] + failing(.writeInVain)
            case .refreshing(let old, _):
                if old.map(isTaken) ?? true { steps = options.lives.map { .refresh($0) } }
                // After a rejection, the job reads the store again. It cannot do this while the store is being written.
                if !options.hasStore || !isWriting { steps.append(.reject) }
                steps.append(.fail)
            case .saving:
                steps = isWriting ? [] : [.save]
            case .storing:
                steps = [.store] + failing(.storeInVain)
            }
            let mayBeAbandoned = !running.contains { $0.isAbandoned } || machine.refresh?.isOverdue == false
            if machine.refresh?.id == job.job.id, mayBeAbandoned { steps.append(.passLimit) }
            moves += steps.map { .job(index, $0) }
        }
        return moves
    }

    private var appMoves: [TokenMove] {
        var moves: [TokenMove] = options.lives.filter { $0 != .over }.map { .app(.logIn($0)) } + [.app(.logOut)]
        guard options.form == .renewable else {
            return options.form == .fixed ? [] : moves + (machine.token != nil ? [.app(.passTime)] : [])
        }
        let isRotated = options.hasStore ? rumour?.session == machine.session : options.isRotatedElsewhere
        if isRotated, machine.token != nil { moves.append(.app(.replace)) }
        if options.lives.contains(.short) { moves.append(.app(.passTime)) }
        return moves
    }

    private var storeMoves: [TokenMove] {
        var moves: [TokenMove] = []
        let mayKeep =
            switch keeper {
            case nil: false
            case .due: !isWriting
            case .writing: true
            }
        if mayKeep { moves += [.store(.keep)] + (options.isStoreFailing ? [.store(.keepInVain)] : []) }
        guard options.hasOtherProcesses else { return moves }
        if look != nil { moves.append(.store(.find)) } else if machine.isToLook { moves.append(.store(.look)) }
        moves.append(.store(.logInElsewhere))
        guard let store else { return moves }
        moves.append(.store(.logOutElsewhere))
        if !isLeased, isTaken(store) { moves.append(.store(.refreshElsewhere)) }
        return moves
    }

    private func failing(_ step: TokenMove.JobStep) -> [TokenMove.JobStep] { options.isStoreFailing ? [step] : [] }

    /// Whether a job of this process holds the lease of the store.
    var isLeased: Bool {
        running.contains { if case .waiting = $0.stage { false } else { true } }
    }

    /// Whether this process is writing to the store, or is about to.
    var isWriting: Bool {
        if case .writing = keeper { return true }
        return running.contains {
            switch $0.stage {
            case .updating, .deciding, .storing, .refused: true
            case .waiting, .refreshing, .saving: false
            }
        }
    }

    /// Whether the server accepts the refresh token of `token`.
    func isTaken(_ token: AccessToken) -> Bool { !spent.contains(token.value) && !revoked.contains(token.value) }
}
