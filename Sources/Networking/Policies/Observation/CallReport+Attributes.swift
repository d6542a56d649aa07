import Foundation

/// The attributes of calls and attempts, with the names of OpenTelemetry's semantic conventions for HTTP clients,
/// version 1.23 and later.
extension CallReport {
    /// The attributes of the call as one span: the method, the URL without secrets, the template, the server, the
    /// status, the number of resends, and the kind of error with which the call ended.
    public var attributes: [String: JSONValue] {
        var attributes = attempts.last?.attributes(redaction: .standard) ?? [:]
        if let endpoint { attributes["url.template"] = .string(endpoint.urlTemplate) }
        let count = attempts.count
        attributes["http.request.resend_count"] = count > 1 ? JSONValue(integer: count - 1) : nil
        // The original error says more than the error to which an error handler mapped it.
        let cause = error as? NetworkError ?? attempts.last?.error as? NetworkError ?? error
        attributes["error.type"] = error == nil ? nil : cause.map { .string(CallReport.name(of: $0)) }
        return attributes
    }

    /// Returns the status code if the status is the error, as the conventions require. Otherwise, returns the name of
    /// the error's kind or type.
    fileprivate static func name(of cause: any Error) -> String {
        guard let known = cause as? NetworkError else { return "\(type(of: cause))" }
        if known.kind == .unacceptableStatus, let status = known.status { return "\(status.code)" }
        return known.kind.description
    }
}

extension RequestAttempt {
    private static let knownMethods: Set<HTTPMethod> = [
        .get, .head, .post, .put, .patch, .delete, .connect, .options, .trace,
    ]

    /// Returns the attributes of the attempt as one span.
    ///
    /// - Parameter redaction: Determines what `url.full` shows. Default: ``Redaction/standard``.
    public func attributes(redaction: Redaction = .standard) -> [String: JSONValue] {
        var attributes: [String: JSONValue] = [:]
        if let request {
            // The conventions allow only registered methods here. Any other method is reported in another attribute.
            let isKnown = RequestAttempt.knownMethods.contains(request.method)
            attributes["http.request.method"] = .string(isKnown ? request.method.rawValue : "_OTHER")
            attributes["http.request.method_original"] = isKnown ? nil : .string(request.method.rawValue)
            attributes["url.full"] = .string(redaction.text(of: request.url))
            attributes["url.scheme"] = request.origin.map { .string($0.scheme) }
            attributes["server.address"] = request.origin.map { .string($0.host) }
            attributes["server.port"] = request.origin.map { JSONValue(integer: $0.port) }
            attributes["http.request.body.size"] =
                request.body.isEmpty ? nil : request.body.length.map { JSONValue(integer: $0) }
        }
        if let response {
            attributes["http.response.status_code"] = JSONValue(integer: response.status.code)
            attributes["network.protocol.version"] = response.httpVersion.map { .string($0) }
            let isWhole = !((error as? NetworkError)?.isAboutBody ?? false)
            if isWhole, case .data(let data) = response.content {
                attributes["http.response.body.size"] = JSONValue(integer: data.count)
            }
        }
        attributes["http.request.resend_count"] = number > 1 ? JSONValue(integer: number - 1) : nil
        attributes["error.type"] = error.map { .string(CallReport.name(of: $0)) }
        return attributes
    }
}
