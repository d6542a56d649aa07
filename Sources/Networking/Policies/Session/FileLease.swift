package import Foundation

/// A right that only one process at a time can hold. The right ends if the process that holds it terminates.
///
/// A file contains the name of the holder, the number of renewals, and the time for which each renewal is valid. A
/// process that waits for the lease measures this time with its own clock, and takes over the lease if it has seen no
/// renewal during this time. Therefore the processes may have different wall clocks and different settings. The file is
/// locked only while it is read and written, never while the lease is held. There are two reasons: Apple's systems
/// terminate a suspended process that holds a file lock, and a process that hangs would block all other processes.
///
/// If the disk is full or fails, so that the file cannot be written, the holder instead locks a second, empty file
/// until the operation has ended. The lock needs no space, and excludes all other processes.
package struct FileLease: Sendable {
    private struct Holder: Codable, Equatable {
        let name: String
        let renewals: Int
        let seconds: Double
    }

    /// A process that holds the lease or waits for it.
    private struct Claim: Sendable {
        let name = UUID().uuidString
        /// The locked second file. Nil if the first file contains the name.
        let file = Locked<Int32?>(nil)
    }

    /// The number of bytes that are read and written. The text of a holder is padded with spaces, so that a later write
    /// needs no additional disk space and overwrites the previous holder completely.
    private static let size = 256

    let path: String
    /// The time for which each renewal is valid.
    package let length: Duration
    let clock: NetworkClock
    /// Writes bytes at the start of a file. If the result is false, `errno` contains the reason. Tests replace this
    /// closure.
    let write: @Sendable (_ file: Int32, _ bytes: Data) -> Bool

    package init(
        path: String, length: Duration, clock: NetworkClock,
        write: @escaping @Sendable (_ file: Int32, _ bytes: Data) -> Bool = { writeFile($0, $1, at: 0) }
    ) {
        (self.path, self.length, self.clock, self.write) = (path, length, clock, write)
    }

    private var second: String { path + ".lock" }

    /// Waits for the lease and holds it while an operation runs. The operation is cancelled if the lease is lost.
    package func hold<Value: Sendable>(_ operation: ExclusiveOperation<Value>) async throws -> Value {
        let claim = Claim()
        try await take(claim)
        defer { giveBack(claim) }
        let work = Task { try await operation() }
        let isLost = Locked(false)
        // The lease is renewed until the operation has returned, even if the operation ignores its cancellation.
        let renewing = Task {
            while true {
                do { try await clock.sleep(clock.now() + length / 3) } catch { return }
                // If the files cannot be used now, the lease is still valid, and the next renewal may succeed.
                guard (try? renew(claim)) ?? true else {
                    isLost.withLock { $0 = true }
                    return work.cancel()
                }
            }
        }
        let result = await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
        // A renewal in progress ends first, so that nothing uses the files afterwards.
        renewing.cancel()
        await renewing.value
        do { return try result.get() } catch { throw isLost.withLock { $0 } ? LeaseLost() : error }
    }

    /// Locks the file against all other processes, and calls a closure. A file that was removed in the meantime is
    /// created again, because the lock of a removed file excludes no process.
    ///
    /// - Throws: `CocoaError` with the path. The method also throws this error if the file was removed a hundred times
    ///   in succession.
    package func locked<Value>(_ body: (_ file: Int32) throws -> Value) throws -> Value {
        for _ in 0..<100 {
            let result: Value? = try FileLock(path: path).locked { file in
                try OwnedFile.isInUse(file, at: path) ? body(file) : nil
            }
            if let result { return result }
        }
        throw FileLock.fault(path, EAGAIN)
    }

    private func take(_ claim: Claim) async throws {
        var seen: Holder?
        var since = clock.now()
        while true {
            let (isTaken, holder) = try locked { file in
                let (old, bytes) = try read(file)
                let isFree = old.map { $0 == seen && clock.now() - since >= limit(of: $0) } ?? true
                guard isFree, try !isSecondLocked() else { return (false, old) }
                let new = Holder(name: claim.name, renewals: 0, seconds: length / .seconds(1))
                if try !write(new, over: bytes, to: file) {
                    try lockSecond(for: claim)
                    ftruncate(file, 0)  // the previous holder, whose lease has expired
                }
                return (true, old)
            }
            guard !isTaken else { return }
            if holder != seen { (seen, since) = (holder, clock.now()) }
            try await clock.sleep(clock.now() + .milliseconds(50))
        }
    }

    /// Returns whether the process still holds the lease.
    private func renew(_ claim: Claim) throws -> Bool {
        try locked { file in
            if claim.file.withLock({ $0 }) != nil { return true }
            let (old, bytes) = try read(file)
            guard let old, old.name == claim.name, try !isSecondLocked() else { return false }
            let new = Holder(name: old.name, renewals: old.renewals &+ 1, seconds: old.seconds)
            if try !write(new, over: bytes, to: file) { try lockSecond(for: claim) }
            return true
        }
    }

    private func giveBack(_ claim: Claim) {
        // If the file can no longer be used, the lease expires.
        try? locked { file in
            if claim.file.withLock({ $0 }) != nil { unlink(second) }
            let (old, bytes) = try read(file)
            if old?.name == claim.name, (try? write(nil, over: bytes, to: file)) != true { ftruncate(file, 0) }
        }
        if let file = claim.file.withLock({ $0 }) { close(file) }
    }

    /// The time for which each renewal of a holder is valid: at most a day, unless the leases of this process are
    /// longer.
    private func limit(of holder: Holder) -> Duration {
        .seconds(min(max(holder.seconds, 0), max(86_400, length / .seconds(1))))
    }

    // MARK: The first file

    private func read(_ file: Int32) throws -> (Holder?, Data) {
        var bytes = [UInt8](repeating: 0, count: FileLease.size)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count >= 0 else { throw FileLock.fault(path, reading: true) }
        let content = Data(bytes[..<count])
        return (try? JSONDecoder().decode(Holder.self, from: content), content)
    }

    /// Writes a holder, or spaces if there is none. If this fails, the file keeps its old content.
    ///
    /// - Returns: False if the disk is full or fails.
    private func write(_ holder: Holder?, over old: Data, to file: Int32) throws -> Bool {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys  // so that a renewal changes only the number
        var bytes = try holder.map { try encoder.encode($0) } ?? Data()
        bytes += Data(repeating: UInt8(ascii: " "), count: max(FileLease.size - bytes.count, 0))
        if write(file, bytes) { return true }
        let code = errno
        _ = write(file, old)
        guard [ENOSPC, EDQUOT, EIO, EFBIG].contains(code) else { throw FileLock.fault(path, code) }
        return false
    }

    // MARK: The second file, which is used only while the first file is locked

    private func lockSecond(for claim: Claim) throws {
        let file = try openSecond(creating: O_CREAT)
        guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0 else {
            defer { close(file) }  // after the error is read from `errno`
            throw FileLock.fault(second)
        }
        claim.file.withLock { $0 = file }
    }

    /// Returns whether another process holds the lock of the second file. If no process holds the lock, the file was
    /// left behind by a terminated process, and this method removes the file.
    private func isSecondLocked() throws -> Bool {
        let file = try openSecond(creating: 0)
        guard file >= 0 else { return false }
        defer { close(file) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
        unlink(second)
        return false
    }

    /// Returns a negative number if the file does not exist.
    private func openSecond(creating flag: Int32) throws -> Int32 {
        let file = open(second, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flag, 0o600)
        guard file >= 0 || errno == ENOENT else { throw FileLock.fault(second) }
        // The file may belong to another user, who could lock it forever.
        guard file < 0 || FileLock.isTrusted(file) else {
            close(file)
            throw FileLock.fault(second, EPERM)
        }
        return file
    }
}

/// Another process has taken over the lease, because it saw no renewal for too long.
package struct LeaseLost: Error {}
