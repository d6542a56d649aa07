/// A store for the token of a session that several processes share: an app and its extension, the workers of a server,
/// or servers on several machines.
///
/// If each refresh makes the previous refresh token invalid, two processes that refresh independently end each other's
/// session. A supervisor with a store refreshes only while it has exclusive access to the store, and reads the store
/// first: if another process has saved a newer token, the supervisor uses that token. It reads the store once more
/// before it reports that the session is over.
///
/// ``AccessTokenFile`` saves the token in a file, `KeychainTokenStore` in the keychain of Apple platforms, and
/// `Example/EtcdTokenStore.swift` in etcd, for servers on several machines:
///
/// ```swift
/// let session = AccessTokenSupervisor(store: AccessTokenFile(folder.appending(path: "token.json"))) { old in
///     try await signIn.refresh(old)
/// }
/// ```
///
/// An implementation for another storage follows these rules:
/// - ``save(_:replacing:)`` is atomic across processes: it compares and writes under one lock, or in one transaction.
///   The new token is on stable storage when the method returns.
/// - ``exclusively(_:)`` never runs the operations of two processes at the same time, whatever their settings and
///   clocks. If the process that has access dies, others get access. The method renews its access as long as the
///   operation runs, and cancels the operation if it loses access.
/// - The methods may be called from any thread and concurrently. They must not set the token of the supervisor. Their
///   errors are reported as ``AccessTokenSupervisor/Event/notStored(_:)``, or are the underlying errors of the calls
///   that wait for the token.
/// - A token is saved with its ``AccessToken/session``.
public protocol AccessTokenStore: Sendable {
    /// Reads the token. Returns nil if there is none, because no user has logged in or the user has logged out.
    func load() async throws -> AccessToken?
    /// Writes a token, or removes it if `token` is nil, provided that the store contains the expected token.
    ///
    /// - Parameters:
    ///   - token: The new token.
    ///   - expected: The token that the store must contain. Nil if it must contain none. Tokens are compared by `==`.
    /// - Returns: False if the store contains another token. Nothing is written then.
    func save(_ token: AccessToken?, replacing expected: AccessToken?) async throws -> Bool
    /// Runs an operation while no other process runs one.
    ///
    /// - Throws: The error of the operation, or `CancellationError` if the task is cancelled while it waits.
    func exclusively<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value
    /// Returns a sequence with an element for each time that another process may have changed the token, as long as the
    /// sequence is iterated. The supervisor reads the store for each element. Default: an empty sequence, so that a
    /// change is detected at the next refresh.
    func changes() -> AsyncStream<Void>
}

extension AccessTokenStore {
    /// Returns an empty sequence.
    public func changes() -> AsyncStream<Void> {
        AsyncStream { $0.finish() }
    }
}
