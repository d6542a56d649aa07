import Foundation

/// Sends the request of a download: looks first whether its file can be written, and asks only for the rest where a
/// part is there.
///
/// Where the server does not go on with the same content (it has another one by now, or knows no ranges, or there is
/// nothing more to give), the download begins anew.
struct DownloadTransport: Transport {
    let base: any Transport
    let destination: FileDestination

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        try destination.check()
        var request = request
        request[option: FileDownload.self] = FileDownload()
        return try await PauseGate.passing(request[option: PauseOption.self]) {
            destination.resuming == .never
                ? try await base.send(request, delivering: delivery) : try await resume(request, delivery)
        }
    }

    private func resume(_ request: HTTPRequest, _ delivery: BodyDelivery) async throws -> HTTPResponse {
        guard request.method == .get, !request.headers.contains(.range) else {
            throw NetworkError(
                .invalidRequest, reason: "download: only a GET without a Range of its own can be resumed")
        }
        var whole = request
        // Places are counted in what is sent: it must be what is written.
        whole.headers[.acceptEncoding] = "identity"
        let content = destination.contentName(request.url)
        whole[option: ContentName.self] = content
        let size = destination.partialSize
        if size > 0, let point = destination.point, point.content == content,
            let rest = try await rest(of: whole, from: point, after: size, delivery)
        {
            return rest
        }
        return try await base.send(whole, delivering: delivery)
    }

    /// Asks for what is missing.
    ///
    /// - Returns: The response; nil if the download has to begin anew. What was answered then has been let go.
    private func rest(
        of whole: HTTPRequest, from point: ResumePoint, after size: Int64, _ delivery: BodyDelivery
    ) async throws -> HTTPResponse? {
        let start = point.start(after: size)
        var rest = whole
        rest.headers[.range] = "bytes=\(start)-"
        rest.headers[.ifRange] = point.validator
        let response = try await base.send(rest, delivering: delivery)
        switch response.status {
        case .partialContent: return point.isContinued(by: response, at: start) ? response : nil
        case .rangeNotSatisfiable: return nil
        default: return response  // all of it, or an error
        }
    }
}

/// The name by which a download is known, as it was before redirects.
enum ContentName: HTTPRequest.Option {
    static var defaultValue: String? { nil }
}

/// Who may pause a download, and have it go on.
enum PauseOption: HTTPRequest.Option {
    static var defaultValue: PauseGate? { nil }
}
