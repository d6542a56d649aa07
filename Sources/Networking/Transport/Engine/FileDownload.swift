/// A response that is written into a file. It travels with the attempt's request, and is over once the file is in its
/// place, or closed after a failure.
final class FileDownload: HTTPRequest.Option, Sendable {
    static var defaultValue: FileDownload? { nil }

    private let end = Settlement<Void>()

    /// The download is over.
    func finish() { end.settle(.success(())) }

    /// Calls a closure once the download is over.
    func observeEnd(_ action: @escaping @Sendable () -> Void) { end.observe { _ in action() } }
}
