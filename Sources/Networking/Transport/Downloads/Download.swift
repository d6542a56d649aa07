import Foundation

/// One attempt to write a response into a file. It is the part of a request that belongs to the downloads.
final class Download: HTTPRequest.Part {
    /// The file, and the rules for it.
    let destination: FileDestination
    /// The name that identifies the content. It is computed before redirects.
    let contentName: String
    private let end = Settlement<Void>()

    init(to destination: FileDestination, from url: URL) {
        self.destination = destination
        contentName = destination.contentName(url)
    }

    var outsideOrigin: Download? { self }
    var outsideCall: Download? { nil }
    var identity: [String] { [] }

    /// Reports that the download has ended: the file was moved to its target and closed, or was closed after a failure.
    /// This calls the closures that were passed to ``observeEnd(_:)``.
    func finish() { end.settle(.success(())) }

    /// Calls a closure when the download has ended, or immediately if it has ended already.
    func observeEnd(_ action: @escaping @Sendable () -> Void) { end.observe { _ in action() } }
}

extension HTTPRequest.Parts {
    /// The download of the attempt; nil if the response is not written into a file.
    var download: Download? { self[Download.self] }
}

extension HTTPRequest {
    /// Begins an attempt to write the response of the request into a file.
    mutating func beginDownload(to destination: FileDestination) {
        parts[Download.self] = Download(to: destination, from: url)
    }
}
