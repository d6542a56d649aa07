import Foundation

/// Reports in the words of OpenTelemetry's conventions for HTTP clients, version 1.23 and later.
extension CallReport {
    /// The attributes of the call as one span: method, URL without secrets, template, server, status, how often it was sent again, what kind
    /// of error it ended with.
    public var attributes: [String: JSONValue] {
        var attributes = attempts.last?.attributes(redaction: .standard) ?? [:]
        if let call { attributes["url.template"] = .string(call.urlTemplate) }
        let count = attempts.count
        attributes["http.request.resend_count"] = count > 1 ? .int(count - 1) : nil
        attributes["error.type"] = error.map { .string(CallReport.type(of: $0)) }
        return attributes
    }

    /// The conventions want a status where one was the error, else a name that is the same for the same cause.
    fileprivate static func type(of error: any Error) -> String {
        guard let error = error as? NetworkError else { return "\(Swift.type(of: error))" }
        return error.kind == .unacceptableStatus
            ? error.status.map { "\($0.code)" } ?? "\(error.kind)" : "\(error.kind)"
    }
}

extension RequestAttempt {
    /// The attributes of the attempt as one span.
    ///
    /// - Parameter redaction: What `url.full` may show.
    public func attributes(redaction: Redaction = .standard) -> [String: JSONValue] {
        var attributes: [String: JSONValue] = [:]
        if let request {
            attributes["http.request.method"] = .string(request.method.rawValue)
            attributes["url.full"] = .string(redaction.text(of: request.url))
            attributes["url.scheme"] = request.origin.map { .string($0.scheme) }
            attributes["server.address"] = request.origin.map { .string($0.host) }
            attributes["server.port"] = request.origin.map { .int($0.port) }
            attributes["http.request.body.size"] = request.body.isEmpty ? nil : request.body.length.map { .int($0) }
        }
        if let response {
            attributes["http.response.status_code"] = .int(response.status.code)
            if case .data(let data) = response.content { attributes["http.response.body.size"] = .int(data.count) }
        }
        attributes["http.request.resend_count"] = number > 1 ? .int(number - 1) : nil
        attributes["error.type"] = error.map { .string(CallReport.type(of: $0)) }
        return attributes
    }
}
