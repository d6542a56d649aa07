/// An observer that records the calls of a service. Open the archive in the developer tools of a browser, or replay it
/// in a test.
///
/// ```swift
/// let recorder = HARRecorder()
/// let token = service.observers.register(recorder)
/// …
/// try recorder.archive.encoded().write(to: url)
/// ```
///
/// Credentials, query values and bodies are recorded only if the ``Redaction`` allows them. To replay an archive,
/// record it with ``Redaction/revealed``, against a server that has no real secrets. A call is recorded when it is
/// over. Bodies that were delivered to files or streams are not recorded.
public final class HARRecorder: RequestObserver {
    private let redaction: Redaction
    private let limit: Int
    private let entries = Locked<[HARArchive.Entry]>([])

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - redaction: Determines what is recorded. Default: ``Redaction/standard``.
    ///   - limit: The maximum number of exchanges. If there are more exchanges, the oldest exchanges are removed.
    ///     Default: 1,000.
    public init(redaction: Redaction = .standard, limit: Int = 1_000) {
        self.redaction = redaction
        self.limit = max(limit, 1)
    }

    /// The exchanges recorded so far, ordered by the time at which they began.
    public var archive: HARArchive {
        HARArchive(entries: entries.withLock { $0 }.sorted { $0.startedDateTime < $1.startedDateTime })
    }

    /// Removes all recorded exchanges.
    public func clear() {
        entries.withLock { $0 = [] }
    }

    /// Records a call when it is over.
    public func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
        guard case .finished(let report) = event else { return }
        let new = HARArchive.entries(of: report, redaction: redaction)
        entries.withLock { entries in
            entries += new
            if entries.count > limit { entries.removeFirst(entries.count - limit) }
        }
    }
}
