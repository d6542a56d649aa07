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
        facts.ended.insert(machine.session)
        // A log-in or log-out before the store has been read ends the session of the stored token.
        if machine.isUnread, let stored = store?.session { facts.ended.insert(stored) }
        change(to: token, from: .elsewhere)
        perform(machine.set(token, session: session, at: now))
        expect(machine.token == token, "rule 8: a token that the app sets becomes the current token")
    }

    private mutating func replace() {
        let token = rumour ?? newToken(.unknown, in: machine.session, for: machine.token)
        rumour = nil
        guard token != machine.token else {
            perform(machine.replace(token, at: now))  // already the current token: a running refresh must continue
            return
        }
        change(to: token, from: .elsewhere)
        let session = machine.session
        perform(machine.replace(token, at: now))
        expect(
            machine.token == token && machine.session == session, "rule 11: a token rotated elsewhere keeps the session"
        )
    }

    mutating func make(_ step: TokenMove.StoreStep) {
        switch step {
        case .keep: keep()
        case .keepInVain: keeper = machine.keeping == nil ? nil : .due
        case .look: look = (store, machine.tokenGeneration, facts.isForeign)
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
        facts.isForeign = true
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
            expect(
                !spent.contains(token.value) || spent.contains(old.value),
                "rule 12: the store's newer token is not replaced by an older one")
        }
        store = update.token
        facts.isForeign = false
        machine.noteKept(generation: update.generation)
        return true
    }

    private mutating func find() {
        guard let seen = look else { return }
        look = nil
        let before = machine.tokenGeneration
        let effects = machine.find(seen.found, generation: seen.generation, session: newSession(), at: now)
        if machine.tokenGeneration != before {
            expect(before == seen.generation, "rule 12: a read is ignored if the current token has changed since")
            expect(seen.isForeign, "rule 12: the store's content is taken over only if another process wrote it")
            change(to: seen.found, from: .elsewhere)
            if seen.found == nil { facts.isOverAnnounced = false }
        }
        perform(effects)
    }
}
