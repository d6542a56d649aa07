public import Foundation

/// A store that saves the token in a file that only its owner can read. The file is replaced as a whole and written to
/// stable storage. A lease file next to the token file determines which process may refresh the token.
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
    /// - Throws: `CocoaError` with the path, if the file cannot be read or does not contain a token, or if its folder
    ///   does not exist.
    public func load() throws -> AccessToken? {
        try checkFolder()
        return try lease.locked { _ in
            OwnedFile.removeRemains(of: url.path)
            return try read()
        }
    }

    /// Replaces the file with a new file in one step. Removes the file if `token` is nil.
    ///
    /// - Throws: `CocoaError` with the path, if the file cannot be read or replaced, or if its folder does not exist.
    public func save(_ token: AccessToken?, replacing expected: AccessToken?) throws -> Bool {
        try checkFolder()
        return try lease.locked { _ in
            guard try read() == expected else { return false }
            if let token {
                try OwnedFile.replace(url.path, with: try JSONEncoder().encode(token))
            } else {
                try OwnedFile.remove(url.path)
            }
            return true
        }
    }

    /// Waits for the lease and holds it while the operation runs.
    public func exclusively<Value: Sendable>(
        _ operation: ExclusiveOperation<Value>
    ) async throws -> Value {
        try await lease.hold(operation)
    }

    private func checkFolder() throws {
        let folder = url.deletingLastPathComponent().path
        guard url.isFileURL, FileManager.default.fileExists(atPath: folder) else {
            throw fault(.fileNoSuchFile, at: folder)
        }
    }

    private func read() throws -> AccessToken? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        do { return try JSONDecoder().decode(AccessToken.self, from: Data(contentsOf: url)) } catch {
            throw fault(.fileReadCorruptFile, at: nil, error)
        }
    }

    private func fault(
        _ code: CocoaError.Code, at path: String? = nil, _ error: (any Error)? = nil
    ) -> CocoaError {
        var information: [String: Any] = [NSFilePathErrorKey: path ?? url.path]
        information[NSUnderlyingErrorKey] = error
        return CocoaError(code, userInfo: information)
    }
}
