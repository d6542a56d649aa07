package import Foundation

extension HARArchive {
    /// Returns the exchanges of a call in order. For each attempt, the redirects come first, and the last exchange
    /// follows.
    package static func entries(of report: CallReport, redaction: Redaction) -> [Entry] {
        report.attempts.flatMap { attempt -> [Entry] in
            var entries: [Entry] = []
            var start = attempt.start
            var queued = attempt.queued
            func add(_ request: HTTPRequest, _ received: HTTPResponse?, _ response: Response, total: Duration) {
                let timings = Timings(received?.timing ?? HTTPResponse.Timing(), queued: queued, total: total)
                entries.append(
                    Entry(
                        startedDateTime: text(of: report.date, after: start), time: timings.sum,
                        request: Request(request, received?.httpVersion, redaction), response: response,
                        timings: timings, serverIPAddress: received?.connection?.remoteAddress,
                        connection: received?.connection?.remotePort.map { "\($0)" }))
            }
            for hop in attempt.redirects {
                let taken = (queued ?? .zero) + (hop.timing.total ?? .zero)
                add(hop.request, hop, Response(hop, redaction), total: taken)
                start += taken
                queued = nil
            }
            guard let request = attempt.request else { return entries }
            let response = attempt.response.map { Response($0, redaction, failed: attempt.lostBody) }
            add(
                request, attempt.response, response ?? Response(none: attempt.error),
                total: attempt.start + attempt.duration - start)
            entries[entries.count - 1].comment = comment(on: attempt)
            if attempt.response?.status == .switchingProtocols {
                entries[entries.count - 1].resourceType = "websocket"
                entries[entries.count - 1].messages = []
            }
            return entries
        }
    }

    private static func comment(on attempt: RequestAttempt) -> String? {
        let words = [
            attempt.number > 1 ? "attempt \(attempt.number)" : nil, attempt.response?.source.note, attempt.lostBody,
            attempt.response?.cutOff.map { "the body is cut off: \($0)" },
            attempt.decision?.description,
        ]
        let known = words.compactMap { $0 }
        return known.isEmpty ? nil : known.joined(separator: "; ")
    }

    /// Returns a time in ISO 8601 with milliseconds.
    private static func text(of date: Date, after offset: Duration) -> String {
        let instant = date.addingTimeInterval(offset / .seconds(1))
        return instant.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// Returns a body as the archive records it. If the redaction hides parts of bodies, the result contains only what
    /// the redaction shows. Otherwise it contains the whole body, as base64 text if the body is not text.
    fileprivate static func recorded(
        _ body: Data, _ type: MediaType?, _ redaction: Redaction
    ) -> (text: String, encoding: String?) {
        guard redaction.showsBodies else { return (redaction.text(of: body, type: type), nil) }
        guard let text = body.asText else { return (body.base64EncodedString(), "base64") }
        return (text, nil)
    }
}

extension RequestAttempt {
    /// The reason why the body of a response is not available. Nil if the response is complete, or if its status is the
    /// reason for the failure.
    fileprivate var lostBody: String? {
        guard response != nil, let error = error as? NetworkError, error.isAboutBody else { return nil }
        return error.kind.description
    }
}

extension HARArchive.Request {
    fileprivate init(_ request: HTTPRequest, _ httpVersion: String?, _ redaction: Redaction) {
        let headers = request.allHeaders
        let url = redaction.text(of: request.url).prefix { $0 != "#" }
        self.init(
            method: request.method.rawValue, url: String(url), httpVersion: "HTTP/" + (httpVersion ?? "1.1"),
            headers: HARArchive.Pair.pairs(headers, redaction), queryString: HARArchive.Pair.query(of: String(url)),
            postData: HARArchive.PostData(request.body, headers.contentType, redaction),
            bodySize: request.body.length ?? -1)
    }
}

extension HARArchive.Response {
    /// - Parameter failure: The kind of the error if the body is not complete.
    fileprivate init(_ response: HTTPResponse, _ redaction: Redaction, failed failure: String? = nil) {
        let location = response.status.isRedirection ? response.headers.first { $0.name == .location } : nil
        self.init(
            status: response.status.code, statusText: response.status.reasonPhrase,
            httpVersion: "HTTP/" + (response.httpVersion ?? "1.1"),
            headers: HARArchive.Pair.pairs(response.headers, redaction),
            content: HARArchive.Content(response, redaction), redirectURL: location.map(redaction.value(of:)) ?? "",
            comment: failure)
    }

    /// Creates the placeholder that the format requires for an exchange that received no response.
    fileprivate init(none error: (any Error)?) {
        self.init(
            status: 0, statusText: "", httpVersion: "HTTP/1.1", headers: [],
            content: HARArchive.Content(size: 0, mimeType: "x-unknown"), redirectURL: "",
            comment: (error as? NetworkError)?.kind.description ?? error?.typeName)
    }
}

extension HARArchive.Entry {
    /// The approximate number of bytes of the texts.
    var size: Int {
        let texts = [request.url, request.postData?.text, response.content?.text, response.redirectURL, comment]
        let pairs = [request.headers, request.queryString, response.headers].flatMap { $0 ?? [] }
        // A pair needs about 50 bytes in addition to its texts.
        return texts.reduce(1_024) { $0 + ($1?.utf8.count ?? 0) }
            + pairs.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 50 }
            + (messages ?? []).reduce(0) { $0 + $1.size }
    }
}

extension HARArchive.SocketMessage {
    package init(_ message: WebSocketMessage, _ type: String, _ date: Date, _ redaction: Redaction) {
        let isText = if case .text = message { true } else { false }
        let body = message.data
        self.init(
            type: type, time: date.timeIntervalSince1970, opcode: isText ? 1 : 2,
            data: redaction.showsBodies && !isText
                ? body.base64EncodedString() : HARArchive.recorded(body, nil, redaction).text)
    }

    /// The approximate number of bytes.
    var size: Int { data.utf8.count + 100 }
}

extension HARArchive.Pair {
    fileprivate static func pairs(_ headers: HTTPHeaders, _ redaction: Redaction) -> [Self] {
        headers.map { Self(name: $0.name.rawValue, value: redaction.value(of: $0)) }
    }

    /// Returns the items of the query of a URL, decoded.
    fileprivate static func query(of url: String) -> [Self] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        // At most 1,000 items are listed, because the URL of a redirect may contain tens of thousands of items. The URL
        // contains the whole query.
        return url[url.index(after: mark)...].split(separator: "&").prefix(1_000).map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let plain = parts.map { $0.removingPercentEncoding ?? $0 }
            return Self(name: plain[0], value: plain.count > 1 ? plain[1] : "")
        }
    }
}

extension HARArchive.PostData {
    /// The maximum length, in bytes, of a recorded body that is read from files.
    private static let fileLimit = 16 << 20

    fileprivate init?(_ body: HTTPBody, _ type: MediaType?, _ redaction: Redaction) {
        guard !body.isEmpty else { return nil }
        let mimeType = type?.description ?? "application/octet-stream"
        guard let data = Self.bytes(of: body, redaction) else {
            let length = body.length.map { "\($0)" } ?? "unknown"
            self.init(mimeType: mimeType, text: "<\(length) bytes of \(type?.essence ?? mimeType)>")
            return
        }
        let (text, encoding) = HARArchive.recorded(data, type, redaction)
        self.init(mimeType: mimeType, text: text, encoding: encoding)
    }

    /// Returns the bytes of the body. A body that is not in memory is read from its files. Nil if such a body is
    /// hidden, too large or unreadable.
    private static func bytes(of body: HTTPBody, _ redaction: Redaction) -> Data? {
        if let data = body.data { return data }
        guard redaction.showsBodies, (body.length ?? .max) <= fileLimit else { return nil }
        var bytes = Data()
        for piece in body.pieces {
            switch piece {
            case .data(let data): bytes += data
            case .file(let url):
                guard let data = try? Data(contentsOf: url) else { return nil }
                bytes += data
            case .unknown: return nil
            }
        }
        return bytes
    }
}

extension HARArchive.Content {
    fileprivate init(_ response: HTTPResponse, _ redaction: Redaction) {
        let type = response.headers.contentType
        let mimeType = type?.description ?? "x-unknown"
        guard case .data(let data) = response.content else {
            self.init(size: 0, mimeType: mimeType, comment: "the body was delivered to a file or a stream")
            return
        }
        let (text, encoding) = HARArchive.recorded(data, type, redaction)
        let isHidden = !redaction.showsBodies && !data.isEmpty
        self.init(
            size: data.count, mimeType: mimeType, text: redaction.showsBodies || isHidden ? text : nil,
            encoding: encoding, comment: isHidden ? HARArchive.Content.hidden : nil)
    }

    /// The comment on a body that is not shown completely.
    package static let hidden = "not all of the body is recorded"
}

extension HARArchive.Timings {
    /// - Parameters:
    ///   - timing: The times that the engine reports.
    ///   - queued: The time that the attempt waited before its request was sent.
    ///   - total: The total duration, including the wait.
    fileprivate init(_ timing: HTTPResponse.Timing, queued: Duration?, total: Duration) {
        func milliseconds(_ from: Duration?, _ to: Duration?) -> Double {
            to.map { max(($0 - (from ?? .zero)) / .milliseconds(1), 0) } ?? -1
        }
        let carried = max(total - (queued ?? .zero), .zero)
        let connected = timing.tls ?? timing.connect ?? timing.nameLookup ?? .zero
        let firstByte = min(timing.firstByte ?? carried, carried)
        self.init(
            blocked: milliseconds(nil, queued), dns: milliseconds(nil, timing.nameLookup),
            connect: milliseconds(timing.nameLookup, timing.tls ?? timing.connect),
            ssl: milliseconds(timing.connect, timing.tls), send: 0,
            wait: milliseconds(min(connected, firstByte), firstByte), receive: milliseconds(firstByte, carried))
    }

    /// The total time as the format defines it: TLS is part of connecting, and unknown times count as zero.
    fileprivate var sum: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max($1 ?? 0, 0) } }
}
