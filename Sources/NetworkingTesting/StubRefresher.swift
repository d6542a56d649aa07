import Foundation
public import Networking

/// A token refresh for tests: it returns scripted tokens and counts its calls. The script may suspend, to delay a
/// refresh.
///
/// ```swift
/// let refresher = StubRefresher()                                 // fresh-1, fresh-2, …
/// let session = AccessTokenSupervisor(token: AccessToken("stale"), refresh: refresher.refresh)
/// ```
public final class StubRefresher: @unchecked Sendable {  // because of its lock
    private let lock = NSLock()
    private let answer: @Sendable (_ count: Int, _ old: AccessToken?) async throws -> AccessToken
    private var counted = 0

    /// Creates a refresher.
    ///
    /// - Parameter answer: Returns the new token. It receives the number of the refresh, counted from 1, and the old
    ///   token. By default, it returns the tokens `fresh-1`, `fresh-2` and so on.
    public init(
        _ answer: @escaping @Sendable (_ count: Int, _ old: AccessToken?) async throws -> AccessToken = { count, _ in
            AccessToken("fresh-\(count)")
        }
    ) {
        self.answer = answer
    }

    /// The number of refreshes that were started.
    public var count: Int { lock.withLock { counted } }

    /// Counts the refresh, and returns the scripted token or throws the scripted error.
    public func refresh(_ old: AccessToken?) async throws -> AccessToken {
        let number = lock.withLock {
            counted += 1
            return counted
        }
        return try await answer(number, old)
    }
}
