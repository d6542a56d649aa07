public import Foundation

/// Keeps a token in a file that only its owner can read, replaced as a whole, with a lease beside it for who may refresh.
///
/// ```swift
/// let session = try AccessTokenSupervisor(store: AccessTokenFile(folder.appending(path: "token.json"))) { old in … }
/// ```
public struct AccessTokenFile: AccessTokenStore {
    private let url: URL
    private let lease: FileLease

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - url: The file. Its folder has to be there. A second file, of the same name and `.lease`, stands beside it.
    ///   - lease: How long a process may keep others from refreshing, should it be ended or suspended in the middle: 20 seconds unless
    ///     said otherwise. It should be shorter than the 30 seconds that a refresh may take, and longer than one takes.
    ///   - clock: What tells the time.
    public init(_ url: URL, lease: Duration = .seconds(20), clock: NetworkClock = .continuous) {
        self.url = url
        self.lease = FileLease(path: url.path + ".lease", length: lease, clock: clock)
    }

    /// Reads the file; nil where there is none.
    ///
    /// - Throws: `CocoaError` with the path, where the file cannot be read or has no token in it, or its folder is not there.
    public func load() throws -> AccessToken? {
        let folder = url.deletingLastPathComponent().path
        guard url.isFileURL, FileManager.default.fileExists(atPath: folder) else { throw fault(.fileNoSuchFile) }
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        do { return try JSONDecoder().decode(AccessToken.self, from: Data(contentsOf: url)) } catch {
            throw fault(.fileReadCorruptFile, error)
        }
    }

    private func fault(_ code: CocoaError.Code, _ error: (any Error)? = nil) -> CocoaError {
        var information: [String: Any] = [NSFilePathErrorKey: url.path]
        information[NSUnderlyingErrorKey] = error
        return CocoaError(code, userInfo: information)
    }

    /// Writes a new file and puts it in the place of the old one, or removes that.
    ///
    /// - Throws: The file system's error.
    public func save(_ token: AccessToken?) throws {
        guard let token else {
            if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
            return
        }
        try OwnedFile.replace(url.path, with: try JSONEncoder().encode(token))
    }

    /// Waits for the lease, and holds it for the operation.
    public func exclusively<Value: Sendable>(_ operation: @Sendable () async throws -> Value) async throws -> Value {
        try await lease.hold(operation)
    }
}
