import Foundation

/// Sends the request of a download: looks first whether its file can be written, and asks only for the rest where a part is there.
///
/// Where the server does not go on with the same content (it has another one by now, or knows no ranges, or there is nothing more to
/// give), the download begins anew.
struct DownloadTransport: Transport {
    let base: any Transport
    let destination: FileDestination

    func send(_ request: HTTPRequest, answering timing: AnswerTiming) async throws -> HTTPResponse {
        try destination.check()
        return try await PauseGate.passing(request[option: PauseOption.self]) {
            destination.resuming == .never
                ? try await base.send(request, answering: timing) : try await resume(request, timing)
        }
    }

    private func resume(_ request: HTTPRequest, _ timing: AnswerTiming) async throws -> HTTPResponse {
        guard request.method == .get, !request.headers.contains(.range) else {
            throw NetworkError(
                .invalidRequest, reason: "download: only a GET without a Range of its own can be resumed")
        }
        var whole = request
        // Places are counted in what is sent: it must be what is written.
        whole.headers[.acceptEncoding] = "identity"
        let size = destination.partialSize
        guard size > 0, let point = destination.point, point.content == destination.contentName(request.url) else {
            return try await base.send(whole, answering: timing)
        }
        let start = point.start(after: size)
        var rest = whole
        rest.headers[.range] = "bytes=\(start)-"
        rest.headers[.ifRange] = point.validator
        let response = try await base.send(rest, answering: timing)
        switch response.status {
        case .partialContent where point.isContinued(by: response, at: start): return response
        case .partialContent, .rangeNotSatisfiable: break
        default: return response  // all of it, or an error
        }
        return try await base.send(whole, answering: timing)
    }
}

/// Who may pause a download, and have it go on.
enum PauseOption: RequestOption {
    static var defaultOption: PauseGate? { nil }
}
