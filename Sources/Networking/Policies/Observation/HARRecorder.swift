/// Records what a service does, to be opened in a browser's developer tools or replayed in a test.
///
/// ```swift
/// let recorder = HARRecorder()
/// let token = service.observers.register(recorder)
/// …
/// try recorder.archive.encoded().write(to: url)
/// ```
///
/// Credentials, query values and bodies are not recorded unless the ``Redaction`` lets them; to replay it, record
/// with ``Redaction/revealed``, against a server whose secrets are none. A call is recorded when it is over. Bodies
/// that went into files or streams are not recorded.
public final class HARRecorder: RequestObserver {
    private let redaction: Redaction
    private let limit: Int
    private let entries = Locked<[HARArchive.Entry]>([])

    /// Makes a recorder.
    ///
    /// - Parameters:
    ///   - redaction: What may be recorded.
    ///   - limit: How many exchanges are kept; past it the oldest are forgotten.
    public init(redaction: Redaction = .standard, limit: Int = 1_000) {
        self.redaction = redaction
        self.limit = max(limit, 1)
    }

    /// What has been recorded so far, by the time at which it began.
    public var archive: HARArchive {
        HARArchive(entries: entries.withLock { $0 }.sorted { $0.startedDateTime < $1.startedDateTime })
    }

    /// Forgets everything.
    public func clear() {
        entries.withLock { $0 = [] }
    }

    /// Records a call that is over.
    public func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
        guard case .finished(let report) = event else { return }
        let new = HARArchive.entries(of: report, redaction: redaction)
        entries.withLock { entries in
            entries += new
            if entries.count > limit { entries.removeFirst(entries.count - limit) }
        }
    }
}
