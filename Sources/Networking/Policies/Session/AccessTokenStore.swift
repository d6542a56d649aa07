/// Keeps the token of a session that several processes share: an app and its extension, or the workers of a server.
///
/// Where each refresh makes the refresh token before it worthless, two processes that refresh on their own log each other out. A supervisor
/// with a store refreshes only while it has the store to itself, and reads it again first: where another process has brought a newer token,
/// that is taken. What another process does, a log-out included, is noticed at the next refresh and not before. It reads it once more before it declares the session over. ``AccessTokenFile`` is a store; on Apple platforms there is
/// `KeychainTokenStore`, too.
public protocol AccessTokenStore: Sendable {
    /// The token that is kept; nil where there is none, because nobody has logged in or somebody has logged out.
    func load() throws -> AccessToken?
    /// Keeps a token, or with nil forgets the one that is kept. It must not set the supervisor's token.
    func save(_ token: AccessToken?) throws
    /// Runs an operation while no other process runs one. What another process that was ended or suspended has left behind must not keep
    /// others out for ever.
    ///
    /// - Throws: What the operation throws; `CancellationError` when the task is cancelled while it waits.
    func exclusively<Value: Sendable>(_ operation: @Sendable () async throws -> Value) async throws -> Value
}
