public import Foundation

/// Keeps a token in a file that only its owner can read, replaced as a whole and written to stable storage, with a
/// lease beside it for who may refresh.
///
/// ```swift
/// let session = AccessTokenSupervisor(store: AccessTokenFile(folder.appending(path: "token.json"))) { old in … }
/// ```
///
/// The processes that share it run on one machine: file systems that several machines share do not lock files reliably.
public struct AccessTokenFile: AccessTokenStore {
    private let url: URL
    private let lease: FileLease

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - url: The file. Its folder has to be there. A second file, of the same name and `.lease`, stands beside it.
    ///   - lease: How long a process that was ended or suspended in the middle of a refresh keeps the others from
    ///     refreshing. A process that runs renews its lease three times as often. Default: 20 seconds.
    ///   - clock: The clock by which the lease is measured.
    public init(_ url: URL, lease: Duration = .seconds(20), clock: NetworkClock = .continuous) {
        self.url = url
        self.lease = FileLease(path: url.path + ".lease", length: lease, clock: clock)
    }

    /// Reads the file; nil if there is none.
    ///
    /// - Throws: `CocoaError` with the path, if the file cannot be read or has no token in it, or its folder is not
    ///   there.
    public func load() throws -> AccessToken? {
        try checkFolder()
        return try lease.locked { _ in
            OwnedFile.removeRemains(of: url.path)
            return try read()
        }
    }

    /// Writes a new file and puts it in the place of the old one, or removes that.
    ///
    /// - Throws: The file system's error, with the path.
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

    /// Waits for the lease, and holds it for the operation.
    public func exclusively<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
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
