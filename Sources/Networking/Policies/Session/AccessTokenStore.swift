public import Foundation

/// Stores the token of a session that several processes share: an app and its extension, the workers of a server, or
/// servers on several machines.
///
/// If each refresh invalidates the previous refresh token, two processes that refresh independently end the session. A
/// supervisor with a store refreshes only while it holds the store's lock, and reads the store first: if another
/// process has stored a newer token, the supervisor uses that token.
///
/// ``AccessTokenFile`` stores the token in a file, `KeychainTokenStore` in the keychain of Apple platforms, and
/// `Example/Etcd/EtcdTokenStore.swift` in etcd.
///
/// ## When it is called
///
/// The supervisor calls ``load()`` in these cases: when the supervisor is created; before each refresh and each write;
/// when ``changes()`` reports a change; before the supervisor declares the session over; for an authorized call in a
/// session that is over. It calls ``save(_:replacing:)`` after a refresh and when the app sets or removes the token. It
/// refreshes the token inside ``exclusively(_:)``.
///
/// The methods can be called on any thread, and several of them at the same time. They must not set the supervisor's
/// token.
///
/// ## Rules
///
/// - `save` is atomic across processes: it compares and writes under one lock, or in one transaction. The new token is
///   on stable storage when the method returns.
/// - `exclusively` never lets two processes in at the same time, regardless of their settings and clocks. It lets
///   another process in after the process that holds the lock has terminated. It renews its lock while the operation
///   runs, and cancels the operation if it has lost the lock.
/// - A token is stored with its ``AccessToken/session``.
/// - Content that is not a token, because it is damaged or has another format, counts as no token: `load` throws
///   ``AccessToken/Undecodable``, and `save` replaces or removes this content if `expected` is nil.
///
/// ## Errors
///
/// An error is reported as ``AccessTokenSupervisor/Event/notStored(_:)``, or the calls that wait for the token fail
/// with this error as the underlying error. A write or a removal that fails is retried until it succeeds.
///
/// ``AccessToken/Undecodable`` means that nobody is logged in. It is reported once, and the next log-in or log-out
/// removes the content from the store. Any other error of `load` means that the store cannot be read now, for example
/// because the keychain is locked. The session then continues, and the next call reads the store again.
///
/// ## Example
///
/// ```swift
/// let session = AccessTokenSupervisor(store: AccessTokenFile(folder.appending(path: "token.json"))) { old in
///     try await signIn.refresh(old)
/// }
/// ```
public protocol AccessTokenStore: Sendable {
    /// Reads the token. Returns nil if there is none, because no user has logged in or the user has logged out.
    ///
    /// - Throws: ``AccessToken/Undecodable`` if the store contains something that is not a token. Another error if the
    ///   store cannot be read now.
    func load() async throws -> AccessToken?
    /// Replaces the stored token if it is equal to `expected`. If `token` is nil, removes the stored token.
    ///
    /// - Parameters:
    ///   - token: The new token.
    ///   - expected: The token that the store must contain. Nil if the store must contain no token, or something that
    ///     is not a token. Tokens are compared by `==`.
    /// - Returns: False if the store contains another token. In this case, nothing is written.
    func save(_ token: AccessToken?, replacing expected: AccessToken?) async throws -> Bool
    /// Runs an operation exclusively: until the operation ends, no other process runs an operation in this method.
    ///
    /// - Throws: The error of the operation, or `CancellationError` if the task is cancelled while it waits.
    func exclusively<Value: Sendable>(_ operation: ExclusiveOperation<Value>) async throws -> Value
    /// Returns a sequence that yields an element whenever another process may have changed the token. The supervisor
    /// reads the store for each element. Default: an empty sequence, which means that the supervisor detects a change
    /// at the next refresh.
    func changes() -> AsyncStream<Void>
}

/// The operation that ``AccessTokenStore/exclusively(_:)`` runs. Call it like a function: `try await operation()`.
///
/// It is a type, because the type of an asynchronous closure depends on the compiler settings of a module
/// ([SE-0461](https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md)): if
/// the method took a closure, a store in a module with other settings could not implement it.
public struct ExclusiveOperation<Value: Sendable>: Sendable {
    private let run: @Sendable () async throws -> Value

    /// Creates an operation from a closure.
    public init(_ run: @escaping @Sendable () async throws -> Value) {
        self.run = run
    }

    /// Runs the operation.
    public func callAsFunction() async throws -> Value { try await run() }
}

extension AccessTokenStore {
    /// Returns an empty sequence.
    public func changes() -> AsyncStream<Void> {
        AsyncStream { $0.finish() }
    }
}

/// A store that saves the token in a file that only its owner can read. The file is replaced as a whole and written to
/// stable storage. A lease file next to the token file determines which process may refresh the token. If the disk is
/// full, so that the lease file cannot be written, a third file is locked during a refresh.
///
/// ```swift
/// let session = AccessTokenSupervisor(store: AccessTokenFile(folder.appending(path: "token.json"))) { old in … }
/// ```
///
/// All processes that share the file must run on one machine, because file systems that several machines share do not
/// lock files reliably.
public struct AccessTokenFile: AccessTokenStore {
    private let url: URL
    private let lease: FileLease

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - url: The file. Its folder must exist. The store creates a second file next to it, with the same name and the
    ///     suffix `.lease`.
    ///   - lease: The length of the lease. If a process is terminated or suspended during a refresh, the other
    ///     processes cannot refresh for this time. A running process renews its lease after a third of this time.
    ///     Default: 20 s.
    ///   - clock: The clock that measures the lease.
    public init(_ url: URL, lease: Duration = .seconds(20), clock: NetworkClock = .continuous) {
        self.url = url
        self.lease = FileLease(path: url.path + ".lease", length: lease, clock: clock)
    }

    /// Reads the token from the file. Returns nil if there is no file.
    ///
    /// - Throws: ``AccessToken/Undecodable`` if the file does not contain a token, is a symbolic link, belongs to
    ///   another user (except the administrator), or has more than 1 MiB. `CocoaError` with the path, if the file
    ///   cannot be read now, or if its folder does not exist.
    public func load() throws -> AccessToken? {
        try checkFolder()
        return try lease.locked { _ in
            OwnedFile.removeRemains(of: url.path)
            return try read()
        }
    }

    /// Replaces the file with a new file in one step. Removes the file if `token` is nil. A file that does not contain
    /// a token counts as no token.
    ///
    /// - Throws: `CocoaError` with the path, if the file cannot be read or replaced, or if its folder does not exist.
    public func save(_ token: AccessToken?, replacing expected: AccessToken?) throws -> Bool {
        try checkFolder()
        return try lease.locked { _ in
            let stored: AccessToken?
            do { stored = try read() } catch is AccessToken.Undecodable { stored = nil }
            guard stored == expected else { return false }
            if let token {
                try OwnedFile.replace(url.path, with: try JSONEncoder().encode(token))
            } else {
                try OwnedFile.remove(url.path)
            }
            return true
        }
    }

    /// Waits for the lease and holds it while the operation runs.
    public func exclusively<Value: Sendable>(_ operation: ExclusiveOperation<Value>) async throws -> Value {
        try await lease.hold(operation)
    }

    private func checkFolder() throws {
        let folder = url.deletingLastPathComponent().path
        guard url.isFileURL, FileManager.default.fileExists(atPath: folder) else {
            throw fault(.fileNoSuchFile, at: folder)
        }
    }

    private func read() throws -> AccessToken? {
        do {
            return try OwnedFile.read(url.path).map { content in
                try AccessToken(stored: content) { fault(.fileReadCorruptFile, $0) }
            }
        } catch let error as OwnedFile.Irregular {
            throw AccessToken.Undecodable(fault(.fileReadCorruptFile, error))
        }
    }

    private func fault(_ code: CocoaError.Code, _ error: (any Error)? = nil, at path: String? = nil) -> CocoaError {
        var information: [String: Any] = [NSFilePathErrorKey: path ?? url.path]
        information[NSUnderlyingErrorKey] = error
        return CocoaError(code, userInfo: information)
    }
}
