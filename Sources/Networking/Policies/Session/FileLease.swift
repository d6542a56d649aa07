import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The right to do something, which one process at a time has, and which ends by itself.
///
/// A file tells who has it and until when. It is locked only for the moment of looking and writing, never while the right is held: a process
/// that is suspended with a locked file is ended by Apple's systems, and one that hangs would keep everybody out.
struct FileLease: Sendable {
    private struct Holder: Codable {
        let name: String
        let until: Date
    }

    let path: String
    let length: Duration
    let clock: NetworkClock

    /// Waits for the lease and holds it for an operation.
    func hold<Value: Sendable>(_ operation: @Sendable () async throws -> Value) async throws -> Value {
        let name = UUID().uuidString
        while try !take(name) { try await clock.sleep(clock.now() + .milliseconds(50)) }
        do {
            let value = try await operation()
            giveBack(name)
            return value
        } catch {
            giveBack(name)
            throw error
        }
    }

    /// Takes the lease, unless somebody has it.
    private func take(_ name: String) throws -> Bool {
        try change { holder in
            let now = clock.date()
            let end = now.addingTimeInterval(length / .seconds(1))
            // One that ends later than any begun now was begun by a clock that was wrong.
            if let holder, holder.until > now, holder.until <= end { return holder }
            return Holder(name: name, until: end)
        }?.name == name
    }

    private func giveBack(_ name: String) {
        // Where the file cannot be written any more, the lease ends by its time.
        _ = try? change { $0?.name == name ? nil : $0 }
    }

    /// Looks at the holder and writes another one, while nobody else does.
    private func change(_ next: (Holder?) -> Holder?) throws -> Holder? {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(file) }
        guard flock(file, LOCK_EX) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = max(pread(file, &bytes, bytes.count, 0), 0)
        let holder = try? JSONDecoder().decode(Holder.self, from: Data(bytes[..<count]))
        let new = next(holder)
        let text = try new.map { Array(try JSONEncoder().encode($0)) } ?? []
        guard ftruncate(file, 0) == 0, pwrite(file, text, text.count, 0) == text.count else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        return new
    }
}
