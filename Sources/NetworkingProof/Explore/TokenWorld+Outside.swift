import Foundation
import Networking

// The steps of the app, the store and other processes.
extension TokenWorld {
    mutating func make(_ step: TokenMove.AppStep) {
        switch step {
        case .logIn(let life): logIn(life)
        case .logOut: set(nil, in: newSession())
        case .replace: replace()
        case .passTime: now += 1_000
        }
    }

    private mutating func logIn(_ life: Life) {
        let session = newSession()
        set(newToken(life, in: session), in: session)
    }

    private mutating func set(_ token: AccessToken?, in session: UUID) {
        ended.insert(self.session)
        // A log-in or log-out before the store has been read ends the session of the stored token.
        if !isStoreKnown, let stored = store?.session { ended.insert(stored) }
        change(to: token, in: session, by: .app, beginsSession: true)
        perform(machine.set(token, session: session, at: now))
        rules.set(isCurrent: machine.token == token)
    }

    private mutating func replace() {
        let token = rumour ?? newToken(.unknown, in: machine.session, for: machine.token)
        rumour = nil
        guard token != machine.token else {
            perform(machine.replace(token, at: now))  // already the current token: a running refresh must continue
            return
        }
        change(to: token, in: session, by: .app, beginsSession: false)
        perform(machine.replace(token, at: now))
        rules.replace(isCurrent: machine.token == token, isSameSession: machine.session == session)
    }

    mutating func make(_ step: TokenMove.StoreStep) {
        switch step {
        case .keep: keep()
        case .keepInVain: keeper = machine.keeping == nil ? nil : .due
        case .look: look = (store, machine.tokenGeneration, changes, isForeign)
        case .find: find()
        case .logOutElsewhere: writeElsewhere(nil)
        case .logInElsewhere: writeElsewhere(newToken(.unknown, in: newSession()))
        case .refreshElsewhere:
            guard let old = store, let session = old.session else { return }
            let life: Life = options.lives.contains(.short) ? .short : .unknown
            writeElsewhere(newToken(life, in: session, for: old))
            if options.isRotatedElsewhere { rumour = store }
        }
    }

    private mutating func writeElsewhere(_ token: AccessToken?) {
        store = token
        isForeign = true
    }

    /// Prepares the next write of the keeper, or carries it out.
    private mutating func keep() {
        if case .writing(let update) = keeper {
            _ = write(update)
            keeper = machine.keeping == nil ? nil : .due
        } else if let (generation, change) = machine.keeping {
            guard case .write(let token) = change.step(finding: store) else {
                machine.noteKept(generation: generation)
                keeper = machine.keeping == nil ? nil : .due
                return
            }
            keeper = .writing(Update(generation: generation, token: token, stored: store))
        } else {
            keeper = nil
        }
    }

    /// Writes to the store if the store's content has not changed since it was read. Returns whether the store was
    /// written.
    mutating func write(_ update: Update) -> Bool {
        guard store == update.stored else { return false }
        if let old = store, let token = update.token, old.session == token.session {
            rules.write(isOlder: spent.contains(token.value) && !spent.contains(old.value))
        }
        store = update.token
        isForeign = false
        machine.noteKept(generation: update.generation)
        return true
    }

    private mutating func find() {
        guard let seen = look else { return }
        look = nil
        let (before, next) = (machine.token, seen.found?.session ?? newSession())
        let isIdle = running.isEmpty && keeper == nil && seen.changes == changes
        let effects = machine.find(seen.found, generation: seen.generation, session: next, at: now)
        if isIdle, seen.isForeign { rules.find(isCurrent: machine.token?.value == seen.found?.value) }
        if machine.token != before {
            rules.takeOver(isCurrent: seen.changes == changes, isForeign: seen.isForeign)
            change(to: seen.found, in: next, by: .store, beginsSession: next != session)
        }
        perform(effects)
    }
}

extension TokenRules.Form {
    var machine: AccessTokenMachine.Form {
        switch self {
        case .renewable: .renewable
        case .fetchesFirst: .fetchesFirst
        case .fixed: .fixed
        }
    }
}
