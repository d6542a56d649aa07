package import Foundation
package import Networking

/// A token store in etcd, for servers on several machines that share the token of a session. One server refreshes the
/// token, and the others are notified.
///
/// ```swift
/// let session = AccessTokenSupervisor(store: EtcdTokenStore(etcd, key: "accounts/token")) { old in … }
/// ```
///
/// The store uses etcd's HTTP gateway (`/v3/…`, etcd 3.4 and later). The process that refreshes the token holds a lock:
/// a second key with an etcd lease. If this process dies, etcd removes the second key when the lease expires, and
/// another process may refresh. Each write is one transaction, which also checks that the stored token has not changed.
package struct EtcdTokenStore: AccessTokenStore {
    private let etcd: Etcd
    private let key: Data
    private let lockKey: Data
    /// The duration of the lease in seconds. If the process with the lock dies, the other processes cannot refresh the
    /// token until the lease has expired. With its default settings, etcd grants leases of at least 2 seconds.
    private let lease: Int

    package init(_ url: URL, key: String, lease: Int = 5) {
        etcd = Etcd(url)
        self.key = Data(key.utf8)
        lockKey = Data("\(key)/lock".utf8)
        self.lease = lease
    }

    package func load() async throws -> AccessToken? {
        try token(in: try await etcd.entry(of: key))
    }

    package func save(_ token: AccessToken?, replacing expected: AccessToken?) async throws -> Bool {
        while true {
            let entry = try await etcd.entry(of: key)
            let stored: AccessToken?
            do {
                stored = try self.token(in: entry)
                // An earlier attempt may have stored the token, and its response may have been lost.
                if stored == token, stored?.session == token?.session { return true }
            } catch is AccessToken.Undecodable {
                stored = nil  // it is replaced or removed
            }
            guard stored == expected else { return false }
            let change: Etcd.Operation =
                try token.map { .put(key, try JSONEncoder().encode($0), lease: nil) } ?? .delete(key)
            if try await etcd.change(entry.map { .isUnchanged($0) } ?? .isAbsent(key), change) { return true }
        }
    }

    package func exclusively<Value: Sendable>(
        _ operation: ExclusiveOperation<Value>
    ) async throws -> Value {
        let begun = ContinuousClock.now
        let id = try await etcd.grantLease(seconds: lease)
        let work = Task {
            try await takeLock(with: id)
            return try await operation()
        }
        // The lease is renewed until the operation returns, even if the operation ignores its cancellation.
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

    package func changes() -> AsyncStream<Void> {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watching = Task {
            while !Task.isCancelled {
                // The token may have changed while there was no watch, so the start of a watch counts as a change.
                continuation.yield()
                do { for try await _ in try await etcd.watch(key) { continuation.yield() } } catch {}
                try? await Task.sleep(for: .seconds(1))
            }
        }
        continuation.onTermination = { _ in watching.cancel() }
        return changes
    }

    private func token(in entry: Etcd.Entry?) throws -> AccessToken? {
        guard let entry else { return nil }
        do { return try JSONDecoder().decode(AccessToken.self, from: entry.value) } catch {
            throw AccessToken.Undecodable(error)
        }
    }

    /// Waits until this process has written the lock key with its own lease.
    private func takeLock(with lease: String) async throws {
        let name = Data(lease.utf8)
        while true {
            if try await etcd.change(.isAbsent(lockKey), .put(lockKey, name, lease: lease)) { return }
            if try await etcd.entry(of: lockKey)?.value == name { return }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Renews the lease after each third of its duration. Returns when the lease has expired, or when no renewal has
    /// succeeded during its whole duration.
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
