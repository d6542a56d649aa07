/// A list of entries that are added and removed while the app runs, in the order in which they were added. Each entry
/// is removed by its token.
///
/// Entries are released outside the lock, because an entry may own the token of another entry. When the first entry is
/// released, its token removes the other entry, which needs the lock.
final class Registrations<Entry: Sendable>: Sendable {
    private struct State: Sendable {
        var entries: [(id: UInt64, entry: Entry)] = []
        var nextID: UInt64 = 0
        /// All entries. The array is updated when an entry is added or removed, so that readers do not copy it.
        var all: [Entry]
    }

    private let permanent: [Entry]
    private let state: Locked<State>

    /// Creates a list with permanent entries, which come before all other entries.
    init(_ permanent: [Entry] = []) {
        self.permanent = permanent
        state = Locked(State(all: permanent))
    }

    /// The current entries. The permanent entries are first.
    var all: [Entry] { state.withLock { $0.all } }

    /// Adds an entry at the end.
    ///
    /// - Returns: The token that removes the entry when the token is cancelled or released.
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
