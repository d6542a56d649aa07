/// The option of a request whose response is written into a file. It reports when the download has ended: the file was
/// moved to its target and closed, or was closed after a failure.
final class FileDownload: HTTPRequest.Option, Sendable {
    static var defaultValue: FileDownload? { nil }

    private let end = Settlement<Void>()

    /// Reports that the download has ended. This calls the closures that were passed to ``observeEnd(_:)``.
    func finish() { end.settle(.success(())) }

    /// Calls a closure when the download has ended, or immediately if it has ended already.
    func observeEnd(_ action: @escaping @Sendable () -> Void) { end.observe { _ in action() } }
}
