/// The transports of a service: uploads, downloads, duplicates and redirects, around the transports that carry cookies,
/// store responses and send requests.
///
/// A request that is no upload, for example, does not pass through ``uploads``. Most requests pass only through
/// ``redirects``, so that few calls of functions wait for each response.
final class TransportChain: Sendable {
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

    /// All transports, as one.
    var whole: any Transport { uploads }

    /// Sends a request through the transports that it needs.
    @inline(__always)  // otherwise every waiting call retains the frame of this function, too
    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        if request.parts.upload != nil { return try await uploads.send(request, delivering: delivery) }
        if request.parts.download != nil { return try await downloads.send(request, delivering: delivery) }
        if duplicates.compares(request) { return try await duplicates.send(request, delivering: delivery) }
        return try await redirects.send(request, delivering: delivery)
    }
}
