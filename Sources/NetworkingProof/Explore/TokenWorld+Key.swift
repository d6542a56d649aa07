import Foundation
import Networking

// The bytes that distinguish two states. A generation is not written as a number. The key contains only whether the
// generation is older than, equal to or newer than the current generations of the machine (`generation`,
// `tokenGeneration`). Equal tokens or sessions have equal numbers. The calls are sorted by their bytes, so that it does
// not matter which caller makes which call. No number in the key grows without limit, so the number of states is finite
// even for endless sequences of steps.
extension TokenWorld {
    func write(to key: inout StateKey) {
        var names = Names()
        writeMachine(to: &key, &names)
        writeOutside(to: &key, &names)
        for job in running { write(job, to: &key, &names) }
        var calls = callers.enumerated().map { bytes(of: $1, waiter: UInt64($0)) }
        calls.sort { $0.lexicographicallyPrecedes($1) }
        for call in calls { key.write(call) }
        names.writeSets(of: self, to: &key)
    }

    private func writeMachine(to key: inout StateKey, _ names: inout Names) {
        names.write(machine.token, in: self, to: &key)
        key.write(names.session(machine.session))
        let storage: UInt8 =
            switch machine.storage {
            case .none: 0
            case .unread: 1
            case .read(isKept: false): 2
            case .read(isKept: true): 3
            }
        key.write(storage)
        key.write(
            machine.tokenOrigin == .refresh, machine.form == .fetchesFirst, machine.isUntried, machine.hasWrongExpiry,
            machine.over != nil, machine.mayHoldAny)
        key.write(
            rules.over != nil && rules.over == machine.token?.value, rules.isOverAnnounced, rules.wasSet,
            rules.isUntried, rules.isWrongClock, rules.isAsked, rules.isWanted, isStoreKnown,
            session == machine.session, token == machine.token?.value)
        key.write(UInt8(rules.refusing.reduce(0) { $0 | 1 << $1 }))
        key.write(UInt8(machine.refusing.reduce(0) { $0 | 1 << (Int($1.name) ?? 7) }))
        key.write(machine.failure.map { $0.generation == machine.generation - 1 } ?? false, machine.failure != nil)
        guard let refresh = machine.refresh else { return key.write(0xFF) }
        key.write(UInt8(running.firstIndex { $0.job.id == refresh.id } ?? 0xFE))
        key.write(refresh.isSuperseded, refresh.isWantedAgain, refresh.isOverdue)
    }

    private func writeOutside(to key: inout StateKey, _ names: inout Names) {
        names.write(store, in: self, to: &key)
        names.write(rumour, in: self, to: &key)
        key.write(store.flatMap(\.session).map(ended.contains) ?? false, isForeign)
        switch keeper {
        case nil: key.write(0)
        case .due: key.write(1)
        case .writing(let update):
            key.write(2)
            write(update, to: &key, &names)
        }
        guard let look else { return key.write(0) }
        key.write(1)
        key.write(look.generation == machine.tokenGeneration, look.changes == changes, look.isForeign)
        names.write(look.found, in: self, to: &key)
    }

    private func write(_ running: Running, to key: inout StateKey, _ names: inout Names) {
        let kind: UInt8 =
            switch running.job.kind {
            case .load: 0
            case .refresh: 1
            case .look: 2
            }
        key.write(kind)
        key.write(UInt8(running.limits))
        key.write(
            running.isStale, running.changes == changes, running.job.generation == machine.tokenGeneration)
        // The token of the job is written only in the stages that still need it. In the other stages, the associated
        // values of the stage are sufficient for the rules.
        switch running.stage {
        case .waiting, .updating, .deciding:
            names.write(running.job.token, in: self, to: &key)
            key.write(names.session(running.job.session))
        case .refreshing(old: nil, _): key.write(names.session(running.job.session))
        case .refreshing, .saving, .storing, .refused: break
        }
        switch running.stage {
        case .waiting:
            key.write(0)
        case .updating(let update):
            key.write(3)
            write(update, to: &key, &names)
        case .deciding(let stored):
            key.write(5)
            names.write(stored, in: self, to: &key)
        case .refused(let stored, let later):
            key.write(6)
            names.write(stored, in: self, to: &key)
            names.write(later, in: self, to: &key)
        case .storing(let token, let old, let stored, let later):
            key.write(4)
            names.write(token, in: self, to: &key)
            names.write(old, in: self, to: &key)
            names.write(later, in: self, to: &key)
            names.write(stored, in: self, to: &key)
        case .refreshing(let old, let stored):
            key.write(1)
            names.write(old, in: self, to: &key)
            names.write(stored, in: self, to: &key)
        case .saving(let token, let old, let stored):
            key.write(2)
            names.write(token, in: self, to: &key)
            names.write(old, in: self, to: &key)
            names.write(stored, in: self, to: &key)
        }
    }

    private func write(_ update: Update, to key: inout StateKey, _ names: inout Names) {
        key.write(update.generation == machine.tokenGeneration)
        names.write(update.token, in: self, to: &key)
        names.write(update.stored, in: self, to: &key)
    }

    private func bytes(of caller: Caller, waiter: UInt64) -> [UInt8] {
        let role = options.roles[Int(waiter)].rawValue
        let taken = name(ofTaken: caller.taken)
        guard caller.phase != .idle else { return [0, role, taken] + rules.calls[Int(waiter)].bytes }
        let isWaiter = machine.refresh?.waiters.contains { $0.id == waiter } ?? false
        let flags: [Bool] = [
            isWaiter, caller.member.isRepeated, caller.member.session == machine.sessionNumber,
            caller.mark?.session == machine.sessionNumber, caller.mark?.wasCurrent == true,
            caller.mark?.wasCurrent == nil,
        ]
        let mask = flags.enumerated().reduce(UInt8(0)) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) }
        return [
            caller.phase.rawValue, role, taken, mask, age(of: caller.mark?.generation),
            caller.member.refreshedGeneration.map { $0 == machine.tokenGeneration ? 2 : 1 } ?? 0,
        ] + rules.calls[Int(waiter)].bytes
    }

    /// Compares the token that an app has taken with the tokens that the machine knows.
    private func name(ofTaken value: String?) -> UInt8 {
        guard let value else { return 0 }
        if value == machine.token?.value { return 1 }
        guard let previous = machine.previous, previous.value == value else { return 4 }
        return previous.mark.session == machine.sessionNumber ? 2 : 3
    }

    /// Compares the generation of a call's token with the current generations of the machine. The rules need only the
    /// result.
    private func age(of generation: Int?) -> UInt8 {
        guard let generation else { return 0 }
        return generation == machine.generation ? 3 : generation >= machine.tokenGeneration ? 2 : 1
    }

    /// Small numbers that replace ids.
    private struct Names {
        private var sessions: [UUID] = []
        private var tokens: [String] = []

        mutating func session(_ id: UUID?) -> UInt8 {
            guard let id else { return 0 }
            if let index = sessions.firstIndex(of: id) { return UInt8(index + 1) }
            sessions.append(id)
            return UInt8(sessions.count)
        }

        mutating func write(_ token: AccessToken?, in world: TokenWorld, to key: inout StateKey) {
            guard let token else { return key.write(0) }
            let index = tokens.firstIndex(of: token.value) ?? tokens.count
            if index == tokens.count { tokens.append(token.value) }
            key.write(UInt8(index + 1))
            key.write(session(token.session))
            key.write(
                token.expiresAt != nil, token.expiresAt.map { $0 <= world.now } ?? false,
                world.spent.contains(token.value),
                world.revoked.contains(token.value))
        }

        /// Writes which of the numbered tokens and sessions are in the machine's sets. Tokens and sessions without a
        /// number are omitted, because they cannot occur again.
        func writeSets(of world: TokenWorld, to key: inout StateKey) {
            writeMask(of: sessions, in: world.machine.endedSessions, to: &key)
            writeMask(of: sessions, in: world.ended, to: &key)
            writeMask(of: tokens + [nil], in: world.machine.displaced, to: &key)
        }

        private func writeMask<Element: Hashable>(of all: [Element], in set: Set<Element>, to key: inout StateKey) {
            var mask: UInt16 = 0
            for (index, element) in all.enumerated() where set.contains(element) { mask |= 1 << UInt16(index) }
            key.write([UInt8(truncatingIfNeeded: mask), UInt8(truncatingIfNeeded: mask >> 8)])
        }
    }
}
