/// The transports of a service: uploads, downloads, duplicates and redirects, around the transports that carry cookies,
/// store responses and send requests.
///
/// By default, a request passes only through the redirects. Each further transport would keep an asynchronous frame
/// while the call waits. A call refers to its chain, so the chain is a class.
final class TransportChain: ResetParticipant {
    private let uploads: UploadTransport
    private let downloads: DownloadTransport
    private let duplicates: DuplicateHandlingTransport
    private let redirects: RedirectFollowingTransport

    /// - Parameters:
    ///   - redirects: The transport that sends the requests and follows redirects.
    ///   - compare: Creates the transport that compares the requests which another transport sends.
    init(
        _ redirects: RedirectFollowingTransport, comparingWith compare: (any Transport) -> DuplicateHandlingTransport
    ) {
        self.redirects = redirects
        duplicates = compare(redirects)
        downloads = DownloadTransport(base: duplicates)
        uploads = UploadTransport(base: downloads)
    }

    /// Sends a request through the outermost transport that it needs. This transport sends its own requests through the
    /// next one.
    @inline(__always)  // otherwise every waiting call retains the frame of this function, too
    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        if let upload = request.parts.upload {
            return try await uploads.send(request, delivering: delivery, as: upload)
        }
        if let download = request.parts.download {
            return try await downloads.send(request, delivering: delivery, as: download)
        }
        if let policy = duplicates.policy(for: request) {
            return try await duplicates.send(request, delivering: delivery, by: policy)
        }
        return try await redirects.send(request, delivering: delivery)
    }

    /// Resets the transports. Uploads keep nothing between calls.
    func reset() async { await downloads.reset() }
}
