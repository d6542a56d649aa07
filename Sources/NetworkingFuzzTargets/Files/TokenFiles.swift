import Foundation
import Networking

extension FuzzTarget {
    /// A token file that another program has written. The file is read as a token, or reported as damaged. A session
    /// with this file is logged in or logged out; a log-in replaces the file; and no description shows the token.
    static let tokenFiles = FuzzTarget("token-files", count: 100_000) { input in
        let folder = FuzzFolder("token")
        try folder.empty()
        let file = folder.url.appendingPathComponent("token.json")
        try Data(input.bytes).write(to: file)
        let store = AccessTokenFile(file)
        let found: AccessToken?
        do { found = try store.load() } catch let error as AccessToken.Undecodable {
            try require(!"\(error)".utf8.contains(0x0A), "the error is not one line")
            found = nil
        }
        let session = AccessTokenSupervisor(store: store) { _ in throw AccessToken.Rejected() }
        let loaded = try waiting { try await session.load() }
        if let loaded { try require(loaded == found, "the session has another token than the store") }
        if let found, found.value.utf8.count > 8 {
            let texts = ["\(found)", String(reflecting: found), "\(session)"]
            try require(!texts.contains { $0.contains(found.value) }, "a text shows the token")
        }
        let new = AccessToken("new", expiresAt: found?.expiresAt, refreshToken: "next", session: UUID())
        let isSaved = try store.save(new, replacing: found)
        try require(isSaved, "a log-in cannot be saved")
        try require(try store.load() == new, "the saved token differs")
    }

    /// A lease file that another program has written. The lease is free, or is taken over when it has expired; the
    /// refresh runs once, and its token is stored.
    static let leases = FuzzTarget("leases", count: 20_000) { input in
        let folder = FuzzFolder("lease")
        try folder.empty()
        let file = folder.url.appendingPathComponent("token.json")
        let store = AccessTokenFile(file, clock: NetworkClock(JumpingClock(), date: { Date() }))
        let old = AccessToken("old", refreshToken: "old", session: UUID())
        try require(try store.save(old, replacing: nil), "the token cannot be saved")
        try Data(input.bytes).write(to: folder.url.appendingPathComponent("token.json.lease"))
        let count = Count()
        let session = AccessTokenSupervisor(store: store) { _ in
            count.add()
            return AccessToken("new", refreshToken: "next")
        }
        let new = try waiting { try await session.refresh() }
        try require(new.value, equals: "new", "the refreshed token")
        try require(count.value, equals: 1, "the number of refreshes")
        try require(try store.load() == new, "the stored token differs")
    }
}

/// A clock that never waits: a sleep moves its time forward by more than an hour, because a lease may last a day.
private final class JumpingClock: Clock, @unchecked Sendable {  // because of its lock
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private let lock = NSLock()
    private var time = Instant(offset: .zero)

    var now: Instant { lock.withLock { time } }
    let minimumResolution = Duration.nanoseconds(1)

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        lock.withLock { time = max(time, deadline).advanced(by: .seconds(3_600)) }
        await Task.yield()
    }
}

/// A counter that several threads increment.
private final class Count: @unchecked Sendable {  // because of its lock
    private let lock = NSLock()
    private var count = 0

    var value: Int { lock.withLock { count } }

    func add() { lock.withLock { count += 1 } }
}
