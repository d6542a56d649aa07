/// Entries that come and go while the app runs, in the order of their coming; each is taken out by its token.
///
/// Entries are let go outside the lock: one that has a token of its own gives it back as it goes.
final class Registrations<Entry: Sendable>: Sendable {
    private struct State: Sendable {
        var entries: [(id: UInt64, entry: Entry)] = []
        var nextID: UInt64 = 0
        /// All of them; made when one comes or goes, so that a reader copies nothing.
        var all: [Entry]
    }

    private let permanent: [Entry]
    private let state: Locked<State>

    /// Makes a list that holds some for good, before all others.
    init(_ permanent: [Entry] = []) {
        self.permanent = permanent
        state = Locked(State(all: permanent))
    }

    /// Those that are there now.
    var all: [Entry] { state.withLock { $0.all } }

    /// Adds an entry, after those that are there.
    ///
    /// - Returns: The token that takes it out again, when it is cancelled or released.
    func add(_ entry: Entry) -> ObservationToken {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            state.entries.append((state.nextID, entry))
            state.all.append(entry)
            return state.nextID
        }
        return ObservationToken { [weak self] in self?.remove(id) }
    }

    private func remove(_ id: UInt64) {
        let before = state.withLock { state in
            defer {
                state.entries.removeAll { $0.id == id }
                state.all = permanent + state.entries.map(\.entry)
            }
            return state
        }
        withExtendedLifetime(before) {}
    }
}
