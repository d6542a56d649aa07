import Foundation

/// A right that only one process at a time can hold. The right ends if the process that holds it terminates.
///
/// A file contains the name of the holder, the number of renewals, and the time for which each renewal is valid. A
/// process that waits for the lease measures this time with its own clock, and takes over the lease if it has seen no
/// renewal during this time. Therefore the processes may have different wall clocks and different settings. The file is
/// locked only while it is read and written, never while the lease is held. There are two reasons: Apple's systems
/// terminate a process that holds a file lock while the process is suspended, and a process that hangs would block all
/// other processes.
struct FileLease: Sendable {
    private struct Holder: Codable, Equatable {
        let name: String
        let renewals: Int
        let seconds: Double
    }

    let path: String
    /// The time for which each renewal is valid.
    let length: Duration
    let clock: NetworkClock

    /// Waits for the lease and holds it while an operation runs. The operation is cancelled if the lease is lost.
    func hold<Value: Sendable>(_ operation: ExclusiveOperation<Value>) async throws -> Value {
        let name = UUID().uuidString
        try await take(name)
        defer { giveBack(name) }
        let work = Task { try await operation() }
        let isLost = Locked(false)
        // The lease is renewed until the operation has returned, even if the operation ignores its cancellation.
        let renewing = Task {
            while true {
                do { try await clock.sleep(clock.now() + length / 3) } catch { return }
                // If the file cannot be written now, the lease is still valid, and the next renewal may succeed.
                guard (try? renew(name)) ?? true else {
                    isLost.withLock { $0 = true }
                    return work.cancel()
                }
            }
        }
        defer { renewing.cancel() }
        return try await withTaskCancellationHandler {
            do { return try await work.value } catch { throw isLost.withLock { $0 } ? LeaseLost() : error }
        } onCancel: {
            work.cancel()
        }
    }

    /// Calls a closure while the file is locked against all other processes.
    func locked<Value>(_ body: (_ file: Int32) throws -> Value) throws -> Value {
        try FileLock(path: path).locked(body)
    }

    private func take(_ name: String) async throws {
        var seen: Holder?
        var since = clock.now()
        while true {
            let holder = try change { holder in
                guard let holder, holder != seen || clock.now() - since < .seconds(holder.seconds) else {
                    return Holder(name: name, renewals: 0, seconds: length / .seconds(1))
                }
                return holder
            }
            guard holder?.name != name else { return }
            if holder != seen { (seen, since) = (holder, clock.now()) }
            do { try await clock.sleep(clock.now() + .milliseconds(50)) } catch {
                giveBack(name)
                throw error
            }
        }
    }

    private func renew(_ name: String) throws -> Bool {
        try change { holder in
            guard let holder, holder.name == name else { return holder }
            return Holder(name: name, renewals: holder.renewals + 1, seconds: holder.seconds)
        }?.name == name
    }

    private func giveBack(_ name: String) {
        // If the file can no longer be written, the lease expires.
        _ = try? change { $0?.name == name ? nil : $0 }
    }

    /// Reads the holder from the file, and writes the next holder.
    private func change(_ next: (Holder?) -> Holder?) throws -> Holder? {
        try locked { file in
            var bytes = [UInt8](repeating: 0, count: 512)
            let count = max(pread(file, &bytes, bytes.count, 0), 0)
            let holder = try? JSONDecoder().decode(Holder.self, from: Data(bytes[..<count]))
            let new = next(holder)
            guard new != holder else { return holder }
            let text = try new.map { Array(try JSONEncoder().encode($0)) } ?? []
            guard ftruncate(file, 0) == 0, pwrite(file, text, text.count, 0) == text.count else {
                throw FileLock.fault(path)
            }
            return new
        }
    }
}

/// Another process has taken over the lease, because it saw no renewal for too long.
struct LeaseLost: Error {}

/// Files that only their owner can read.
enum OwnedFile {
    /// Writes bytes to a new file next to the old file, and replaces the old file with the new file in one step. Every
    /// reader finds either the old or the new bytes, even after a power failure. Only one caller at a time may call
    /// this function.
    static func replace(_ path: String, with bytes: Data) throws {
        let new = path + ".new"
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw FileLock.fault(new) }
        do {
            guard writeFile(file, bytes, at: 0), synchronizeFile(file) else {
                defer { close(file) }  // after the error is read from `errno`
                throw FileLock.fault(new)
            }
            guard close(file) == 0, rename(new, path) == 0 else { throw FileLock.fault(path) }
        } catch {
            unlink(new)
            throw error
        }
        try synchronizeFolder(of: path)
    }

    /// Removes a file if it exists, and the temporary file of a process that was terminated while it wrote.
    static func remove(_ path: String) throws {
        removeRemains(of: path)
        guard unlink(path) == 0 || errno == ENOENT else { throw FileLock.fault(path) }
        try synchronizeFolder(of: path)
    }

    /// Removes the temporary file of a process that was terminated while it wrote.
    static func removeRemains(of path: String) {
        unlink(path + ".new")
    }
}
