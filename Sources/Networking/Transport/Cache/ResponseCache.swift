public import Foundation

/// A private cache ([RFC 9111](https://www.rfc-editor.org/rfc/rfc9111)) for the responses of one or several services,
/// in memory or on disk.
///
/// A stored response is used only for requests with the same URL, the same values of the fields that its `Vary` names,
/// and the same credentials. Credentials include those that adapters add. All tokens of one session of an
/// ``AccessTokenSupervisor`` count as the same credentials. A service has no cache unless one is set:
/// `$0.cache = ResponseCache()`. All methods can be called from any thread.
public final class ResponseCache: Sendable {
    let date: @Sendable () -> Date
    let heuristicFreshness: Double
    /// The responses in memory. When the size of these responses exceeds the capacity, the responses of the least
    /// recently used URLs are removed.
    private let memory: CacheMemory
    let revalidations = CacheRevalidations()
    /// The responses that remain stored when the app ends; nil if there is no such store.
    private let directory: (any ResponseStore)?
    /// Whether responses to requests with credentials are also stored in the directory.
    private let storesCredentials: Bool

    /// Creates an empty cache in memory.
    ///
    /// - Parameters:
    ///   - capacity: The maximum size in bytes. Default: 16 MiB. A response larger than an eighth of the capacity is
    ///     not stored, and at most eight responses are stored for a URL.
    ///   - heuristicFreshness: The lifetime of a response for which the server does not state a lifetime. It is a
    ///     fraction of the time between `Last-Modified` and `Date`, and at most one week (RFC 9111 section 4.2.2).
    ///     Default: 0.1, as in browsers. With 0, such a response is validated before each use.
    ///   - clock: The clock that measures the age of responses.
    public init(capacity: Int = 16 << 20, heuristicFreshness: Double = 0.1, clock: NetworkClock = .continuous) {
        memory = CacheMemory(capacity: capacity)
        self.heuristicFreshness = heuristicFreshness.isNaN ? 0 : heuristicFreshness
        date = clock.date
        directory = nil
        storesCredentials = false
    }

    /// Creates a cache in a directory. The responses remain stored when the app ends.
    ///
    /// Several caches and processes may use the directory at the same time, on one machine. The files are not
    /// encrypted. Each file contains a checksum, and a damaged file is not used. If the app is terminated, only the
    /// responses that are being written at that time are lost. After a power failure, the responses that were written
    /// last may be missing. A response that cannot be written, for example because the disk is full, is not stored, but
    /// its call succeeds.
    ///
    /// - Parameters:
    ///   - directory: The directory, which must contain only files of caches. If it does not exist, it is created, and
    ///     only its owner can read it.
    ///   - capacity: The maximum size in bytes. Each response occupies at least 8 KiB. Default: 128 MiB. When the
    ///     capacity is exceeded, the least recently used responses are removed in the background. A response larger
    ///     than an eighth of the capacity is not stored.
    ///   - storesCredentials: Whether the directory stores responses to requests with credentials, together with these
    ///     credentials. Default: false, which means that such responses are stored in memory, up to 16 MiB. Credentials
    ///     are all fields that may identify the user, such as `Authorization`, `Cookie`, and fields that the library
    ///     does not know.
    ///   - heuristicFreshness: See the initializer of a cache in memory.
    ///   - clock: The clock that measures the age of responses.
    /// - Throws: `CocoaError` with the path, if the directory cannot be created or written to.
    ///   ``NetworkError/Kind/fileNotWritable``, if an existing directory belongs to another user, or grants permissions
    ///   to other users. The existing directory is not changed.
    public init(
        directory: URL, capacity: Int = 128 << 20, storesCredentials: Bool = false, heuristicFreshness: Double = 0.1,
        clock: NetworkClock = .continuous
    ) throws {
        memory = CacheMemory(capacity: min(capacity, 16 << 20))
        self.heuristicFreshness = heuristicFreshness.isNaN ? 0 : heuristicFreshness
        date = clock.date
        self.directory = try CacheDirectory(directory, capacity: capacity, heuristicFreshness: self.heuristicFreshness)
        self.storesCredentials = storesCredentials
    }

    /// The number of stored responses.
    package var count: Int { memory.count + (directory?.count ?? 0) }

    /// Removes every response.
    public func removeAll() {
        memory.removeAll()
        directory?.removeAll()
    }

    /// Removes the responses of a URL, for all credentials.
    public func removeResponses(from url: URL) {
        let key = CachePages.key(url)
        memory.remove(key)
        directory?.remove(key)
    }

    /// Returns the stored response for a request, whether it is fresh or stale. If several stored responses apply to
    /// the request, returns the most suitable one (RFC 9111 section 4).
    func response(to request: HTTPRequest) -> CachedResponse? {
        store(for: request).response(at: CachePages.key(request.url), to: request)
    }

    /// Returns the store of the responses to a request.
    private func store(for request: HTTPRequest) -> any ResponseStore {
        guard let directory else { return memory }
        let isPrivate = !storesCredentials && request.headersWithCredentials.contains(where: \.mayIdentifyUser)
        return isPrivate ? memory : directory
    }

    /// Records that a request is being sent. The record lasts until the returned exchange is released. If the responses
    /// of the URL are removed during this time, the response to the request is not stored. The same applies if the
    /// response to a later request is already stored.
    func begin(_ asked: CacheRequest) -> CacheExchange {
        CacheExchange(asked, in: store(for: asked.request), memory)
    }

    /// Removes one stored response.
    func remove(_ response: CachedResponse, of request: HTTPRequest) {
        store(for: request).remove(response, at: CachePages.key(request.url))
    }
}

extension ResponseCache: ResetParticipant {
    /// Removes every response, and cancels the background validations.
    public func reset() {
        revalidations.cancel()
        removeAll()
    }
}

extension ResponseCache: RedactedReflectable {
    /// The number of stored responses.
    var redactedDescription: String { "\(count) responses" }
}

extension ResponseCache {
    /// How a call uses its service's cache: `RequestSettings { $0.caching = .reload }`.
    public enum Rule: Hashable, Sendable {
        /// A fresh response is used without a request. A stale response is validated first, unless its
        /// `stale-while-revalidate` or `stale-if-error` permits its use. This is the default.
        case fresh
        /// Like ``fresh``, but a stale response is also used if the request gets no response, for example because there
        /// is no network. A stale response is also used if the request is not sent, because its token cannot be
        /// refreshed or the circuit breaker is open. In both cases, responses with `must-revalidate` or `no-cache` are
        /// not used.
        case staleIfOffline
        /// Only a stored response is used, whether it is fresh or stale. No request is sent. If no response is stored,
        /// the call fails with ``NetworkError/Kind/notCached``.
        case only
        /// The request is sent without conditions, and its response is stored.
        case reload
        /// The cache is neither read nor written.
        case off
    }
}

extension ResponseCache: InspectablePart {
    /// The number of stored responses.
    public func facts() async -> [(name: String, value: String)] {
        [("stored responses", "\(count)"), ("where", directory == nil ? "in memory" : "in memory and on disk")]
    }
}
