public import Foundation

extension ResponseConverter where Value == URL {
    /// Returns a converter that writes the body to a file; the value is the URL of the file.
    ///
    /// The response is validated before the target is changed, so the body of a 404 response is not written to the
    /// file. If the call fails, no file is left behind, unless the incomplete download can be resumed (`resuming`).
    ///
    /// After ``RequestTask/pause()``, a download continues where it stopped, if the server has not compressed the
    /// content and confirms that the content has not changed. With `resuming`, the request asks for content that is not
    /// compressed.
    ///
    /// - Parameters:
    ///   - url: The target file, whose folder must exist.
    ///   - rule: What happens if the target exists already. Default: the call fails.
    ///   - isDurable: Whether the bytes must be on the disk before the call ends. Default: false.
    ///   - resuming: Whether an incomplete download is resumed by a retry, by a later call or by a later process.
    ///     Default: never.
    ///   - checksum: The expected checksum of the file. Default: nil, which checks nothing.
    public static func file(
        at url: URL, overwriting rule: FileDestination.OverwriteRule = .fail, isDurable: Bool = false,
        resuming: FileDestination.ResumeRule = .never, checksum: FileDestination.Checksum? = nil
    ) -> ResponseConverter {
        .file(FileDestination(url, overwriting: rule, isDurable: isDurable, resuming: resuming, checksum: checksum))
    }

    /// Returns a converter that writes the body to a file; the value is the URL of the file.
    public static func file(_ destination: FileDestination) -> ResponseConverter {
        ResponseConverter(streaming: true) { response, body in
            try await (response.request.parts.download?.destination ?? destination).write(body, of: response)
        }.downloading(to: destination)
    }
}

extension ResponseConverter where Value == IncomingBody {
    /// A converter that returns the body as a stream of chunks, as they arrive. If the caller does not read, the server
    /// has to wait; releasing the body ends the transfer.
    public static var stream: ResponseConverter { ResponseConverter { $1 } }
}

extension ResponseConverter where Value == BodySequence<String> {
    /// A converter that returns the lines of the body, in UTF-8, as they arrive.
    public static var lines: ResponseConverter {
        ResponseConverter(streaming: false) { _, body in BodySequence { .init(BodyLines(body)) } }
    }
}

extension ResponseConverter where Value == BodySequence<ServerSentEvent> {
    /// A converter that returns the body as server-sent events, as they arrive. A response of another type than
    /// `text/event-stream` is an error.
    public static var serverSentEvents: ResponseConverter {
        ResponseConverter(streaming: false) { response, body in
            try response.checkEventStream()
            return BodySequence { .init(ServerSentEvents(body)) }
        }
        .defaultHeaders(.events)
    }
}

extension ResponseConverter where Value == IncomingBody? {
    /// Returns a converter whose value is the body with the events; nil if the server reports the end of the events
    /// with status 204.
    ///
    /// - Parameter lastEventID: The identifier of the event after which the stream resumes.
    static func eventsUnlessOver(after lastEventID: String) -> ResponseConverter {
        // A field value neither begins nor ends with a blank (RFC 9110 section 5.5).
        let sentID = String(lastEventID[...].trimmingBlanks())
        return ResponseConverter(streaming: false) { response, body in
            guard response.status != .noContent else { return nil }
            try response.checkEventStream()
            return body
        }
        .defaultHeaders(.events).overridingHeaders(sentID.isEmpty ? [] : [.lastEventID: sentID])
    }
}

extension HTTPHeaders {
    fileprivate static let events: HTTPHeaders = [
        HTTPHeader.accept(.eventStream), HTTPHeader(.cacheControl, "no-cache"),
    ]
}

extension HTTPResponse {
    fileprivate func checkEventStream() throws {
        guard headers.contentType?.withoutParameters == .eventStream else {
            let found = headers[.contentType].map { String($0.prefix(200)) } ?? "none"
            throw NetworkError(
                .unacceptableMediaType, reason: "Content-Type: expected text/event-stream, found \(found)")
        }
    }
}

extension ResponseConverter {
    /// Returns a converter that reads the body as JSON values, one per line, as they arrive (`application/x-ndjson`).
    /// Blank lines are ignored.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - end: What a complete body ends with. Default: nil; the body may end after any line.
    ///   - failure: Which lines are errors of the server. Default: nil; no line is an error.
    ///   - decoder: The decoder. Default: nil, which means the decoder of the call if it reads JSON, else a
    ///     `JSONDecoder`.
    public static func jsonLines<Element: Decodable & Sendable>(
        _ type: Element.Type = Element.self, endingWith end: BodySequence<Element>.Terminator? = nil,
        failingOn failure: BodySequence<Element>.FailureRule? = nil, decoder: (any BodyDecoder)? = nil
    ) -> ResponseConverter where Value == BodySequence<Element> {
        ResponseConverter(decodingStream: { _, body, shared in
            let decoder = try decoder.json(or: shared)
            return BodySequence {
                .init(
                    JSONElements<Element>(
                        lines: BodyLines(body), decoder: decoder, endingWith: end, failingOn: failure))
            }
        })
    }

    /// Returns a converter that reads the body as server-sent events whose data is JSON, as they arrive, such as the
    /// response of a language model. A response of another type than `text/event-stream` is an error. Events without
    /// data are ignored.
    ///
    /// ```swift
    /// .events(Delta.self, endingWith: "[DONE]", failingOn: .type("error", as: ModelError.self))
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - names: The types of the events that are read as values; other events are ignored. Default: nil; all events
    ///     are values.
    ///   - end: What a complete body ends with. Default: nil; the body may end after any event.
    ///   - failure: Which events are errors of the server. Default: nil; no event is an error.
    ///   - decoder: The decoder. Default: nil, which means the decoder of the call if it reads JSON, else a
    ///     `JSONDecoder`.
    public static func events<Element: Decodable & Sendable>(
        _ type: Element.Type = Element.self, named names: Set<String>? = nil,
        endingWith end: BodySequence<Element>.Terminator? = nil,
        failingOn failure: BodySequence<Element>.FailureRule? = nil, decoder: (any BodyDecoder)? = nil
    ) -> ResponseConverter where Value == BodySequence<Element> {
        ResponseConverter(decodingStream: { response, body, shared in
            try response.checkEventStream()
            let decoder = try decoder.json(or: shared)
            return BodySequence {
                .init(
                    JSONElements<Element>(
                        events: ServerSentEvents(body), named: names, decoder: decoder, endingWith: end,
                        failingOn: failure))
            }
        })
        .defaultHeaders(.events)
    }
}
