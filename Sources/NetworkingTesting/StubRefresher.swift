import Foundation
public import Networking

/// A token refresh for tests: it answers as scripted, counts, and can be held back.
///
/// ```swift
/// let refresher = StubRefresher()                                 // fresh-1, fresh-2, …
/// let session = AccessTokenSupervisor(token: AccessToken("stale"), refresh: refresher.refresh)
/// ```
public final class StubRefresher: @unchecked Sendable {  // because of its lock
    private let lock = NSLock()
    private let answer: @Sendable (_ count: Int, _ old: AccessToken?) async throws -> AccessToken
    private var counted = 0

    /// Makes a refresher.
    ///
    /// - Parameter answer: Gets the number of the refresh, counted from 1, and the old token; by default it answers
    ///   with the token `fresh-1`, `fresh-2` and so on.
    public init(
        _ answer: @escaping @Sendable (_ count: Int, _ old: AccessToken?) async throws -> AccessToken = { count, _ in
            AccessToken("fresh-\(count)")
        }
    ) {
        self.answer = answer
    }

    /// How many refreshes were begun.
    public var count: Int { lock.withLock { counted } }

    /// Counts, and answers as scripted.
    public func refresh(_ old: AccessToken?) async throws -> AccessToken {
        let number = lock.withLock {
            counted += 1
            return counted
        }
        return try await answer(number, old)
    }
}
