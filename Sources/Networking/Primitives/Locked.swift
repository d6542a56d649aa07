import Foundation

/// State that is only ever touched under its lock. Copies share both.
///
/// State and lock stand in one block of memory, because every call makes a few of them: an `NSLock` on Linux takes
/// four more. `Mutex` needs newer Apple systems and gives false races under the thread sanitizer. Never resume a
/// continuation or call a closure inside `withLock`; take what is needed out, then act.
struct Locked<State: Sendable>: Identifiable, @unchecked Sendable {  // because of the lock beside the state
    private final class Storage: ManagedBuffer<State, pthread_mutex_t> {
        deinit {
            // The buffer deinitializes the state, its header, by itself.
            _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) }
        }
    }

    /// What copies have in common, and nothing else.
    var id: ObjectIdentifier { ObjectIdentifier(storage) }

    // A buffer made by a subclass is one of that subclass.
    private let storage: ManagedBuffer<State, pthread_mutex_t>

    /// The state is made where it stays, which spares a copy.
    init(_ state: @autoclosure () -> State) {
        storage = Storage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { mutex in
                mutex.initialize(to: pthread_mutex_t())
                pthread_mutex_init(mutex, nil)
            }
            return state()
        }
    }

    func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try storage.withUnsafeMutablePointers { state, mutex in
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&state.pointee)
        }
    }
}

extension Locked: CustomReflectable {
    /// Shows nothing: `dump` of what has a lock inside shows no state, which may be secret, and takes no lock.
    var customMirror: Mirror { Mirror(self, children: []) }
}
