import Foundation

/// A transport for downloads. It first checks whether the file can be written. If a part of the file exists, it
/// requests only the missing bytes.
///
/// If the server does not continue with the same content (because the content has changed, the server does not support
/// ranges, or the range cannot be satisfied), the download restarts.
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
                .invalidRequest, reason: "download: only a GET request that sets no Range field can be resumed")
        }
        var whole = request
        // A range counts encoded bytes. Without a content coding, these are the bytes of the file.
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

    /// Requests the missing bytes.
    ///
    /// - Returns: The response; nil if the download must restart. In that case, the response to the range request has
    ///   been released.
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
        default: return response  // the whole content, or an error
        }
    }
}

/// The option for the name that identifies the content of a download. The name is computed before redirects.
enum ContentName: HTTPRequest.Option {
    static var defaultValue: String? { nil }
}

/// The option for the gate that pauses and resumes a download.
enum PauseOption: HTTPRequest.Option {
    static var defaultValue: PauseGate? { nil }
}
