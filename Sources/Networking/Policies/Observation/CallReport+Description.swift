import Foundation

extension CallReport: RedactedReflectable {
    /// One line: `GET api.example.com/users/7: 200 OK in 0.4 s, 2 attempts`. It contains no query, credentials or body.
    var redactedDescription: String {
        let subject = request?.description ?? endpoint.map { $0.urlTemplate } ?? "a call"
        let known = error as? NetworkError ?? attempts.last?.error as? NetworkError
        let outcome = status?.description ?? known?.kind.description ?? error?.typeName ?? "completed"
        let count = attempts.count
        let fault = status == nil ? nil : attempts.last?.fault
        return "\(subject): \(outcome)\(fault.map { ", \($0)," } ?? "") in \(duration.shortText)"
            + (count > 1 ? ", \(count) attempts" : "")
    }
}

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
            attributes["server.address"] = request.origin.map { .string($0.host.onOneLine) }
            attributes["server.port"] = request.origin.map { JSONValue(integer: $0.port) }
            attributes["http.request.body.size"] =
                request.body.isEmpty ? nil : request.body.length.map { JSONValue(integer: $0) }
        }
        if let response {
            attributes["http.response.status_code"] = JSONValue(integer: response.status.code)
            attributes["network.protocol.version"] = response.httpVersion.map { .string($0) }
            if let connection = response.connection { attributes.merge(connection.attributes) { _, new in new } }
            let isWhole = !((error as? NetworkError)?.isAboutBody ?? false) && response.cutOff == nil
            if isWhole, case .data(let data) = response.content {
                attributes["http.response.body.size"] = JSONValue(integer: data.count)
            }
        }
        attributes["http.request.resend_count"] = number > 1 ? JSONValue(integer: number - 1) : nil
        attributes["error.type"] = error.map { .string(CallReport.name(of: $0)) }
        return attributes
    }
}

extension HTTPResponse.Connection {
    fileprivate var attributes: [String: JSONValue] {
        var attributes: [String: JSONValue] = [:]
        attributes["network.peer.address"] = remoteAddress.map { .string($0) }
        attributes["network.peer.port"] = remotePort.map { JSONValue(integer: $0) }
        attributes["tls.protocol.version"] = tlsVersion.map { .string($0) }
        attributes["http.request.size"] = sentBytes.map { JSONValue(integer: Int($0)) }
        attributes["http.response.size"] = receivedBytes.map { JSONValue(integer: Int($0)) }
        return attributes
    }
}

extension CallReport {
    /// The call as text. The first line describes the call. Each further line describes one attempt: a bar that shows
    /// when the attempt ran, its status, its duration and notes.
    ///
    /// In a bar, `.` means waiting for a permit and a token, `=` sending and waiting for the first byte, and `#`
    /// receiving. If the engine does not report the first byte, `=` also includes receiving.
    ///
    /// ```text
    /// GET 127.0.0.1:8080/contacts/7: 200 OK in 40 ms, 2 attempts
    ///   1 |..=====                         | 401  10 ms  token 1; retried: the token was refreshed
    ///   2 |              ==========########| 200  20 ms  token 2
    /// ```
    public var waterfall: String {
        let width = 32
        let scale = Double(width) / max(duration / .nanoseconds(1), 1)
        let rows = attempts.map { attempt in
            let bar = attempt.bar(width: width, scale: scale)
            let outcome = attempt.response.map { "\($0.status.code)" } ?? "---"
            let notes = attempt.notes
            return "  \(attempt.number) |\(bar)| \(outcome)  \(attempt.duration.shortText)"
                + (notes.isEmpty ? "" : "  \(notes.joined(separator: "; "))")
        }
        return ([description] + rows).joined(separator: "\n")
    }
}

extension RequestAttempt {
    fileprivate func bar(width: Int, scale: Double) -> String {
        func position(_ time: Duration) -> Int { min(max(Int((time / .nanoseconds(1) * scale).rounded()), 0), width) }
        let begun = position(start)
        let sent = position(start + (queued ?? duration))
        let end = max(position(start + duration), min(begun + 1, width))
        let hops = redirects.map { $0.timing.total ?? .zero }.reduce(.zero, +)
        let firstByte =
            queued.flatMap { queued in response?.timing.firstByte.map { position(start + queued + hops + $0) } } ?? end

        let parts: [(Character, Int)] = [
            (" ", begun), (".", sent), ("=", min(firstByte, end)), ("#", end), (" ", width),
        ]
        var bar = ""
        for (character, upTo) in parts where upTo > bar.count {
            bar += String(repeating: character, count: upTo - bar.count)
        }
        return bar
    }

    /// The notes on the attempt: its token, error, source, redirects, connection and retry decision.
    fileprivate var notes: [String] {
        var notes: [String] = []
        if let tokenGeneration { notes.append("token \(tokenGeneration)") }
        if let fault { notes.append(fault) }
        if let source = response?.source.note { notes.append(source) }
        if response?.isShared == true { notes.append("joined an equal request") }
        let redirects = redirects.count
        if redirects > 0 { notes.append(redirects == 1 ? "1 redirect" : "\(redirects) redirects") }
        if let timing = response?.timing, let connect = timing.connect, connect > .zero {
            notes.append("connected after \(connect.shortText)")
        }
        if let decision { notes.append(decision.description) }
        return notes
    }
}
