import Foundation

/// A state that is accessed only under its lock. Copies share the state and the lock.
///
/// The state and the lock are in one allocation, because every call creates several such pairs. An `NSLock` on Linux
/// needs four more allocations; `Mutex` requires newer Apple systems and causes false reports of the thread sanitizer.
/// Inside `withLock`, do not resume a continuation, and call no closure of the app except `NetworkClock.now`. Return
/// the values from `withLock`, and use them afterwards.
struct Locked<State: Sendable>: Identifiable, @unchecked Sendable {  // because the lock protects the state
    private final class Storage: ManagedBuffer<State, pthread_mutex_t> {
        deinit {
            // `ManagedBuffer` deinitializes its header, which is the state.
            _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) }
        }
    }

    /// The identity of the storage. Only copies of the same value have the same identity.
    var id: ObjectIdentifier { ObjectIdentifier(storage) }

    // `Storage.create` returns an instance of `Storage`, but its return type is the superclass.
    private let storage: ManagedBuffer<State, pthread_mutex_t>

    /// Creates the state directly in its storage, which avoids a copy.
    init(_ state: @autoclosure () -> State) {
        storage = Storage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { mutex in
                mutex.initialize(to: pthread_mutex_t())
                pthread_mutex_init(mutex, nil)
            }
            return state()
        }
    }

    /// Reads the state without the lock, in the `deinit` of the only object that refers to it.
    func whileSoleOwner<Result>(_ body: (State) throws -> Result) rethrows -> Result {
        try storage.withUnsafeMutablePointerToHeader { try body($0.pointee) }
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
    /// An empty mirror, so that `dump` does not show the state, which may be secret, and does not acquire the lock.
    var customMirror: Mirror { Mirror(self, children: []) }
}
