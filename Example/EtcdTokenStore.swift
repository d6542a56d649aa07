import Foundation
import Networking

/// Keeps the token of a session in etcd, for servers on several machines that share it: one of them refreshes it, and
/// the others are notified.
///
/// ```swift
/// let session = AccessTokenSupervisor(store: EtcdTokenStore(etcd, key: "accounts/token")) { old in … }
/// ```
///
/// It talks to etcd's HTTP gateway (`/v3/…`, etcd 3.4 and later). The process that refreshes holds a key beside the
/// token's, with an etcd lease: if it dies, etcd removes the key, and another one may refresh. What is written is
/// compared with what is there in one transaction.
struct EtcdTokenStore: AccessTokenStore {
    private let etcd: Etcd
    private let key: Data
    private let lockKey: Data
    /// How many seconds a process that has died keeps the others from refreshing. etcd takes no less than 1.
    private let lease: Int

    init(_ url: URL, key: String, lease: Int = 5) {
        etcd = Etcd(url)
        self.key = Data(key.utf8)
        lockKey = Data("\(key)/lock".utf8)
        self.lease = lease
    }

    func load() async throws -> AccessToken? {
        try token(in: try await etcd.entry(of: key))
    }

    func save(_ token: AccessToken?, replacing expected: AccessToken?) async throws -> Bool {
        while true {
            let entry = try await etcd.entry(of: key)
            let stored = try self.token(in: entry)
            // The response to an earlier attempt may have been lost.
            if stored == token, stored?.session == token?.session { return true }
            guard stored == expected else { return false }
            let change: Etcd.Operation =
                try token.map { .put(key, try JSONEncoder().encode($0), lease: nil) } ?? .delete(key)
            if try await etcd.change(entry.map { .isUnchanged($0) } ?? .isAbsent(key), change) { return true }
        }
    }

    func exclusively<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let begun = ContinuousClock.now
        let id = try await etcd.grantLease(seconds: lease)
        let work = Task {
            try await takeLock(with: id)
            return try await operation()
        }
        // It is renewed until the operation has returned, also if that does not heed its cancellation.
        let renewing = Task {
            await renewLease(id, since: begun)
            work.cancel()
        }
        defer {
            renewing.cancel()
            Task { try await etcd.revokeLease(id) }
        }
        return try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            work.cancel()
        }
    }

    func changes() -> AsyncStream<Void> {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watching = Task {
            while !Task.isCancelled {
                // What has happened while nobody watched counts as a change, too.
                continuation.yield()
                do { for try await _ in try await etcd.watch(key) { continuation.yield() } } catch {}
                try? await Task.sleep(for: .seconds(1))
            }
        }
        continuation.onTermination = { _ in watching.cancel() }
        return changes
    }

    private func token(in entry: Etcd.Entry?) throws -> AccessToken? {
        try entry.map { try JSONDecoder().decode(AccessToken.self, from: $0.value) }
    }

    /// Waits until the key is there by our lease, and by nobody else's.
    private func takeLock(with lease: String) async throws {
        let name = Data(lease.utf8)
        while true {
            if try await etcd.change(.isAbsent(lockKey), .put(lockKey, name, lease: lease)) { return }
            if try await etcd.entry(of: lockKey)?.value == name { return }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Renews the lease three times in its life. Returns when the lease is lost: when it has ended, or could not be
    /// renewed for as long as it lasts.
    private func renewLease(_ id: String, since begun: ContinuousClock.Instant) async {
        var end = begun + .seconds(lease)
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(lease) / 3)
            let now = ContinuousClock.now
            guard now < end else { return }
            guard let isAlive = try? await etcd.renewLease(id, within: end - now) else { continue }
            guard isAlive else { return }
            end = now + .seconds(lease)
        }
    }
}
