import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("The lease of a token file", .endsInTime)
final class FileLeaseTests {
    let folder: URL
    let clock = ManualClock()
    var path: String { folder.appendingPathComponent("token.json.lease").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("networking-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A disk that fails each write with an error code. It fails no write if the code is 0.
    final class Disk: Sendable {
        let code: Box<Int32>
        let failures = Box(0)

        init(_ code: Int32 = 0) { self.code = Box(code) }

        var write: @Sendable (Int32, Data) -> Bool {
            { [self] file, bytes in
                guard code.value != 0 else { return writeFile(file, bytes, at: 0) }
                failures.change { $0 += 1 }
                errno = code.value
                return false
            }
        }
    }

    func lease(_ disk: Disk, on clock: ManualClock) -> FileLease {
        FileLease(path: path, length: .seconds(30), clock: clock.networkClock, write: disk.write)
    }

    /// Runs `body` while a lease is held.
    private func holding(
        _ lease: FileLease, _ body: (_ holder: Task<Void, any Error>) async throws -> Void
    ) async throws {
        let (hasBegun, mayEnd) = (Settlement<Void>(), Settlement<Void>())
        let holder = Task {
            do {
                try await lease.hold(
                    ExclusiveOperation {
                        hasBegun.settle(.success(()))
                        try await mayEnd.value()
                    })
            } catch {
                hasBegun.settle(.failure(error))
                throw error
            }
        }
        try await hasBegun.value()
        try await body(holder)
        mayEnd.settle(.success(()))
        try await holder.value
    }

    /// Lets another process ask for the lease for a minute, and checks that it does not get it.
    private func expectExclusion() async {
        let clock = ManualClock()
        let isIn = Box(false)
        let other = lease(Disk(), on: clock)
        let waiting = Task { try await other.hold(ExclusiveOperation { isIn.change { $0 = true } }) }
        for _ in 0..<12 where !isIn.value {
            while clock.sleeperCount == 0, !isIn.value { await Task.yield() }
            clock.advance(by: .seconds(5))
        }
        #expect(!isIn.value)
        waiting.cancel()
        _ = await waiting.result
    }

    private func content() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    @Test("A renewal that cannot be written keeps the lease and its file", arguments: [ENOSPC, EDQUOT, EIO, EFBIG])
    func failedRenewal(code: Int32) async throws {
        let disk = Disk()
        try await holding(lease(disk, on: clock)) { _ in
            let before = try content()
            #expect(!before.isEmpty)
            disk.code.change { $0 = code }
            await clock.waitForSleepers()
            clock.advance(by: .seconds(10))
            while disk.failures.value == 0 { await Task.yield() }
            await clock.waitForSleepers()
            #expect(try content() == before)
            await expectExclusion()
        }
    }

    @Test("A renewal for which the lease file cannot be used keeps the lease")
    func unusableFile() async throws {
        let isOver = Box(false)
        try await holding(lease(Disk(), on: clock)) { holder in
            let watch = Task {
                _ = await holder.result
                isOver.change { $0 = true }
            }
            await clock.waitForSleepers()
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            clock.advance(by: .seconds(10))
            while clock.sleeperCount == 0, !isOver.value { await Task.yield() }
            #expect(!isOver.value)
            try FileManager.default.removeItem(atPath: path)
            watch.cancel()
        }
    }

    @Test("On a full disk, the operation runs and excludes all others", arguments: [ENOSPC, EDQUOT, EIO, EFBIG])
    func fullDisk(code: Int32) async throws {
        try await holding(lease(Disk(code), on: clock)) { _ in await expectExclusion() }
        let isIn = Box(false)
        try await lease(Disk(code), on: clock).hold(ExclusiveOperation { isIn.change { $0 = true } })
        #expect(isIn.value)
    }

    @Test("On a full disk, processes get the lease one after the other without waiting for its expiry")
    func noDelay() async throws {
        let disk = Disk()
        try await holding(lease(disk, on: clock)) { _ in disk.code.change { $0 = ENOSPC } }
        // The clock stands still, so that a wait for the expiry would never end.
        for _ in 0..<3 { try await lease(disk, on: clock).hold(ExclusiveOperation {}) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["token.json.lease"])
    }

    @Test("An error that is not about space still ends the wait for the lease")
    func otherError() async throws {
        let lease = lease(Disk(EBADF), on: clock)
        await #expect(throws: CocoaError.self) { try await lease.hold(ExclusiveOperation {}) }
    }

    @Test("A process that took over an expired lease on a full disk excludes the previous holder")
    func takenOver() async throws {
        let late = ManualClock()
        let isOut = Box(false)
        try await holding(lease(Disk(ENOSPC), on: clock)) { _ in }  // the file exists
        let first = lease(Disk(), on: late)
        let hasBegun = Settlement<Void>()
        let holder = Task {
            defer { isOut.change { $0 = true } }
            try await first.hold(
                ExclusiveOperation {
                    hasBegun.settle(.success(()))
                    try await Settlement<Void>().value()
                })
        }
        try await hasBegun.value()
        let second = lease(Disk(ENOSPC), on: clock)
        let (isIn, mayEnd) = (Settlement<Void>(), Settlement<Void>())
        let next = Task {
            try await second.hold(
                ExclusiveOperation {
                    isIn.settle(.success(()))
                    try await mayEnd.value()
                })
        }
        for _ in 0..<2 {
            await clock.waitForSleepers()
            clock.advance(by: .seconds(31))
        }
        try await isIn.value()
        await late.waitForSleepers()
        late.advance(by: .seconds(10))
        await #expect(throws: LeaseLost.self) { try await holder.value }
        mayEnd.settle(.success(()))
        try await next.value
    }

    @Test(
        "Any content of the lease file is accepted, and no length blocks the others for longer than a day",
        arguments: [
            "1e300", "-1e300", "1e15", "-5", "0", "9223372036854775807", "1e400", "\"x\"",
        ], ["0", "9223372036854775807", "-9223372036854775808", "1e20"])
    func strangeContent(seconds: String, renewals: String) async throws {
        try Data(#"{"name":"x","renewals":\#(renewals),"seconds":\#(seconds)}"#.utf8)
            .write(to: URL(fileURLWithPath: path))
        let isIn = Box(false)
        let lease = lease(Disk(), on: clock)
        let waiting = Task { try await lease.hold(ExclusiveOperation { isIn.change { $0 = true } }) }
        for _ in 0..<3 where !isIn.value {
            while clock.sleeperCount == 0, !isIn.value { await Task.yield() }
            clock.advance(by: .seconds(86_401))
        }
        try await waiting.value
        #expect(isIn.value)
    }
}
