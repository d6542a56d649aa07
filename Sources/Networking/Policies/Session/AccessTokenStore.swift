/// Keeps the token of a session that several processes share: an app and its extension, the workers of a server, or
/// servers on several machines.
///
/// If each refresh makes the refresh token before it worthless, two processes that refresh on their own log each other
/// out. A supervisor with a store refreshes only while it has the store to itself, and reads it first: if another
/// process has brought a newer token, that is taken. It reads the store once more before it declares the session over.
///
/// ``AccessTokenFile`` keeps the token in a file, `KeychainTokenStore` in the keychain of Apple platforms, and
/// `Example/EtcdTokenStore.swift` in etcd, for servers on several machines:
///
/// ```swift
/// let session = AccessTokenSupervisor(store: AccessTokenFile(folder.appending(path: "token.json"))) { old in
///     try await signIn.refresh(old)
/// }
/// ```
///
/// Write one for another place by these rules:
/// - ``save(_:replacing:)`` is atomic across processes: it compares and writes under one lock, or in one transaction.
///   The new token is on stable storage when it returns.
/// - ``exclusively(_:)`` never lets two processes in at once, whatever their settings and clocks, and lets others in if
///   the process that is in dies. It renews its hold as long as the operation runs, and cancels the operation if it has
///   lost it.
/// - The methods may be called from any thread, several at a time. None may set the supervisor's token. What they throw
///   is reported as ``AccessTokenSupervisor/Event/notStored(_:)``, or is the error beneath those of the calls that wait for the
///   token.
/// - A token is kept with its ``AccessToken/session``.
public protocol AccessTokenStore: Sendable {
    /// Reads the token; nil if there is none, because nobody has logged in or somebody has logged out.
    func load() async throws -> AccessToken?
    /// Writes a token, or removes it with nil, if the store has what is expected.
    ///
    /// - Parameters:
    ///   - token: The new token.
    ///   - expected: The token that the store must have for that; nil if it must have none. Tokens are compared by
    ///     `==`.
    /// - Returns: False if it has another one; then nothing is written.
    func save(_ token: AccessToken?, replacing expected: AccessToken?) async throws -> Bool
    /// Runs an operation while no other process runs one.
    ///
    /// - Throws: What the operation throws; `CancellationError` when the task is cancelled while it waits.
    func exclusively<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value
    /// An element for each time that another process may have changed the token, for as long as the sequence is
    /// iterated. The supervisor reads the store then. Default: an empty sequence; changes are noticed at the next
    /// refresh.
    func changes() -> AsyncStream<Void>
}

extension AccessTokenStore {
    /// An empty sequence.
    public func changes() -> AsyncStream<Void> {
        AsyncStream { $0.finish() }
    }
}
