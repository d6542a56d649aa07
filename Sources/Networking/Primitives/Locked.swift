package import Foundation

/// A state that is accessed only under its lock. Copies share the state and the lock.
///
/// The state and the lock are in one allocation, because every call creates several such pairs. An `NSLock` on Linux
/// needs four more allocations; `Mutex` requires newer Apple systems and causes false reports of the thread sanitizer.
/// Inside `withLock`, do not resume a continuation, and call no closure of the app except `NetworkClock.now`. Instead,
/// let `withLock` return the values that you need, and use them afterwards.
package struct Locked<State: Sendable>: Identifiable, @unchecked Sendable {  // because the lock protects the state
    private final class Storage: ManagedBuffer<State, pthread_mutex_t> {
        deinit {
            // `ManagedBuffer` deinitializes its header, which is the state.
            _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) }
        }
    }

    /// The identity of the storage. Only copies of the same value have the same identity.
    @inline(__always)  // a function of its own would need the metadata of its generic type
    package var id: ObjectIdentifier { ObjectIdentifier(storage) }

    // `Storage.create` returns an instance of `Storage`, but its return type is the superclass.
    @usableFromInline
    let storage: ManagedBuffer<State, pthread_mutex_t>

    /// Creates the state directly in its storage, which avoids a copy.
    package init(_ state: @autoclosure () -> State) {
        storage = Storage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { mutex in
                mutex.initialize(to: pthread_mutex_t())
                pthread_mutex_init(mutex, nil)
            }
            return state()
        }
    }

    /// Calls a closure with the state, under the lock. The method is compiled into other modules, too, because they
    /// would otherwise access the state through its metadata.
    @inlinable
    package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try storage.withUnsafeMutablePointers { state, mutex in
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&state.pointee)
        }
    }
}

extension Locked: CustomReflectable {
    /// An empty mirror, so that `dump` does not show the state, which may be secret, and does not acquire the lock.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A lock for asynchronous operations. One task at a time runs its operation. The other tasks wait in the order of
/// their arrival.
package struct AsyncLock: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var waiting: [Settlement<Void>] = []
    }

    private let state = Locked(State())

    package init() {}

    /// Waits until no other operation runs, and then runs `operation`.
    ///
    /// - Throws: The error of the operation, or an ``Interruption`` if the wait ends because the task is cancelled.
    package func withLock<Value: Sendable>(_ operation: () async throws -> Value) async throws -> Value {
        let isNext = Settlement<Void>()
        let isFree = state.withLock { state in
            defer { state.isTaken = true }
            if state.isTaken { state.waiting.append(isNext) }
            return !state.isTaken
        }
        if !isFree { try await isNext.value() }
        defer { leave() }
        return try await operation()
    }

    private func leave() {
        while let next = nextWaiter(), !next.settle(.success(())) {}  // a waiter that was cancelled is skipped
    }

    private func nextWaiter() -> Settlement<Void>? {
        state.withLock { state in
            state.isTaken = !state.waiting.isEmpty
            return state.isTaken ? state.waiting.removeFirst() : nil
        }
    }
}

/// A lock file. Only one thread of one process holds the lock at a time. The system releases the lock if the process
/// ends.
package struct FileLock: Sendable {
    let path: String

    package init(path: String) { self.path = path }

    /// Waits for the lock and holds it while a closure runs. Creates the file if there is none.
    package func locked<Value>(_ body: (_ file: Int32) throws -> Value) throws -> Value {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw FileLock.fault(path) }
        defer { close(file) }
        // If the file belonged to another user, that user could lock it forever.
        guard FileLock.isTrusted(file) else { throw FileLock.fault(path, EPERM) }
        while flock(file, LOCK_EX) != 0 { guard errno == EINTR else { throw FileLock.fault(path) } }
        return try body(file)
    }

    /// Whether a file belongs to this user or to the administrator.
    package static func isTrusted(_ status: stat) -> Bool { [geteuid(), 0].contains(status.st_uid) }

    /// Whether an open file is a regular file that belongs to this user or to the administrator.
    package static func isTrusted(_ file: Int32) -> Bool {
        var status = stat()
        return fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && isTrusted(status)
    }

    /// Returns the error of a system call. Default: the last error, from `errno`.
    package static func fault(_ path: String, _ number: Int32 = errno, reading: Bool = false) -> any Error {
        let code = POSIXErrorCode(rawValue: number) ?? .EIO
        let isDenied = code == .EACCES || code == .EPERM
        let kind: CocoaError.Code = reading ? isDenied ? .fileReadNoPermission : .fileReadUnknown : .fileWriteUnknown
        let error = POSIXError(code)
        return CocoaError(
            kind,
            userInfo: [
                NSFilePathErrorKey: path, NSUnderlyingErrorKey: error,
                NSLocalizedDescriptionKey: "\(path): \(error.localizedDescription)",
            ])
    }
}

/// A list of entries in the order in which they were added. Entries are added and removed while the app runs; each
/// entry is removed by its token.
///
/// Entries are released outside the lock, because an entry may own the token of another entry. When the owning entry is
/// released, that token is released, too, and removes the other entry. This removal needs the lock.
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
