import Foundation

extension HARArchive {
    /// Returns the exchanges of a call: for each attempt its redirects, then its last exchange, in order.
    static func entries(of report: CallReport, redaction: Redaction) -> [Entry] {
        report.attempts.flatMap { attempt -> [Entry] in
            var entries: [Entry] = []
            var start = attempt.start
            var queued = attempt.queued
            for hop in attempt.redirects {
                let taken = (queued ?? .zero) + (hop.timing.total ?? .zero)
                let timings = Timings(hop.timing, queued: queued, total: taken)
                entries.append(
                    Entry(
                        startedDateTime: text(of: report.date, after: start), time: timings.sum,
                        request: Request(hop.request, hop.httpVersion, redaction), response: Response(hop, redaction),
                        timings: timings))
                start += taken
                queued = nil
            }
            guard let request = attempt.request else { return entries }
            let timings = Timings(
                attempt.response?.timing ?? HTTPResponse.Timing(), queued: queued,
                total: attempt.start + attempt.duration - start)
            entries.append(
                Entry(
                    startedDateTime: text(of: report.date, after: start), time: timings.sum,
                    request: Request(request, attempt.response?.httpVersion, redaction),
                    response: attempt.response.map { Response($0, redaction, failed: attempt.lostBody) }
                        ?? Response(none: attempt.error),
                    timings: timings, comment: comment(on: attempt)))
            return entries
        }
    }

    private static func comment(on attempt: RequestAttempt) -> String? {
        let words = [
            attempt.number > 1 ? "attempt \(attempt.number)" : nil, attempt.response?.source.note, attempt.lostBody,
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
}

extension RequestAttempt {
    /// The reason why only the head of a response is available. Nil if the response is complete.
    fileprivate var lostBody: String? {
        guard response != nil, let error = error as? NetworkError, error.isAboutBody else { return nil }
        return error.kind.description
    }
}

extension HARArchive.Request {
    init(_ request: HTTPRequest, _ httpVersion: String?, _ redaction: Redaction) {
        let headers = request.allHeaders
        let url = redaction.text(of: request.url).prefix { $0 != "#" }
        self.init(
            method: request.method.rawValue, url: String(url), httpVersion: "HTTP/" + (httpVersion ?? "1.1"),
            headers: HARArchive.Pair.pairs(headers, redaction),
            queryString: HARArchive.Pair.query(of: String(url)),
            postData: HARArchive.PostData(request.body, headers.contentType, redaction),
            bodySize: request.body.length ?? -1)
    }
}

extension HARArchive.Response {
    /// - Parameter failure: The kind of the error if the body is not complete.
    init(_ response: HTTPResponse, _ redaction: Redaction, failed failure: String? = nil) {
        self.init(
            status: response.status.code, statusText: response.status.reasonPhrase,
            httpVersion: "HTTP/" + (response.httpVersion ?? "1.1"),
            headers: HARArchive.Pair.pairs(response.headers, redaction),
            content: HARArchive.Content(response, redaction),
            redirectURL: response.status.isRedirection
                ? response.headers.first { $0.name == .location }.map(redaction.value(of:)) ?? "" : "",
            comment: failure)
    }

    /// Creates the placeholder that the format requires for an exchange that received no response.
    init(none error: (any Error)?) {
        self.init(
            status: 0, statusText: "", headers: [], content: HARArchive.Content(size: 0, mimeType: "x-unknown"),
            redirectURL: "",
            comment: (error as? NetworkError)?.kind.description ?? error.map { "\(type(of: $0))" })
    }
}

extension HARArchive.Pair {
    static func pairs(_ headers: HTTPHeaders, _ redaction: Redaction) -> [Self] {
        headers.map { Self(name: $0.name.rawValue, value: redaction.value(of: $0)) }
    }

    /// Returns the items of the query of a URL, decoded.
    static func query(of url: String) -> [Self] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        return url[url.index(after: mark)...].split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return Self(
                name: parts[0].removingPercentEncoding ?? parts[0],
                value: parts.count > 1 ? parts[1].removingPercentEncoding ?? parts[1] : "")
        }
    }
}

extension HARArchive.PostData {
    /// The maximum length, in bytes, of a recorded body that is read from files.
    private static let fileLimit = 16 << 20

    init?(_ body: HTTPBody, _ type: MediaType?, _ redaction: Redaction) {
        guard !body.isEmpty else { return nil }
        let mimeType = type?.description ?? "application/octet-stream"
        guard let data = Self.bytes(of: body, redaction) else {
            let length = body.length.map { "\($0)" } ?? "unknown"
            self.init(mimeType: mimeType, text: "<\(length) bytes of \(type?.essence ?? mimeType)>")
            return
        }
        if redaction.showsBodies, data.asText == nil {
            self.init(mimeType: mimeType, text: data.base64EncodedString(), encoding: "base64")
        } else {
            self.init(
                mimeType: mimeType,
                text: redaction.showsBodies
                    ? String(decoding: data, as: UTF8.self) : redaction.text(of: data, type: type))
        }
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
    init(_ response: HTTPResponse, _ redaction: Redaction) {
        let type = response.headers.contentType
        let mimeType = type?.description ?? "x-unknown"
        guard case .data(let data) = response.content else {
            self.init(size: 0, mimeType: mimeType, comment: "the body was delivered to a file or a stream")
            return
        }
        let text: String?
        var encoding: String?
        if !redaction.showsBodies {
            text = data.isEmpty ? nil : redaction.text(of: data, type: type)
        } else if let plain = data.asText {
            text = plain
        } else {
            text = data.base64EncodedString()
            encoding = "base64"
        }
        let isHidden = !redaction.showsBodies && !data.isEmpty
        self.init(
            size: data.count, mimeType: mimeType, text: text, encoding: encoding,
            comment: isHidden ? HARArchive.Content.hidden : nil)
    }

    /// The comment on a body that is not shown completely.
    package static let hidden = "not all of the body is recorded"
}

extension HARArchive.Timings {
    /// - Parameters:
    ///   - timing: The times that the engine reports.
    ///   - queued: The time that the attempt waited before its request was sent.
    ///   - total: The total duration, including the wait.
    init(_ timing: HTTPResponse.Timing, queued: Duration?, total: Duration) {
        func milliseconds(_ from: Duration?, _ to: Duration?) -> Double {
            guard let to else { return -1 }
            return max((to - (from ?? .zero)) / .milliseconds(1), 0)
        }
        let carried = max(total - (queued ?? .zero), .zero)
        let connected = timing.tls ?? timing.connect ?? timing.nameLookup ?? .zero
        let firstByte = min(timing.firstByte ?? carried, carried)
        self.init(
            blocked: queued.map { max($0 / .milliseconds(1), 0) } ?? -1, dns: milliseconds(nil, timing.nameLookup),
            connect: milliseconds(timing.nameLookup, timing.tls ?? timing.connect),
            ssl: milliseconds(timing.connect, timing.tls), send: 0,
            wait: milliseconds(min(connected, firstByte), firstByte),
            receive: milliseconds(firstByte, carried))
    }

    /// The total time by the rule of the format: TLS is part of connecting, and unknown times count as zero.
    var sum: Double { [blocked, dns, connect, send, wait, receive].filter { $0 > 0 }.reduce(0, +) }
}
