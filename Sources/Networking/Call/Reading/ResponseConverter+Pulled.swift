public import Foundation

extension ResponseConverter where Value == URL {
    /// The body in a file; the value is where it is.
    ///
    /// The response is judged before the target is touched: the page that comes with a 404 is no download. Where the
    /// call fails, nothing is left behind, unless a part of it can be resumed (`resuming`).
    ///
    /// - Parameters:
    ///   - url: The target, whose folder has to be there.
    ///   - rule: What happens to a file that is there already.
    ///   - isDurable: Whether the bytes have to be on the disk before the call is answered.
    ///   - resuming: Whether an incomplete download is resumed: by a retry, by
    ///     ``RequestTask/resume()``, by a later call, by a later process.
    ///   - checksum: What the bytes must add up to.
    public static func file(
        at url: URL, overwriting rule: FileDestination.OverwriteRule = .fail, isDurable: Bool = false,
        resuming: FileDestination.ResumeRule = .never, checksum: FileDestination.Checksum? = nil
    ) -> ResponseConverter {
        .file(
            FileDestination(
                url, overwriting: rule, isDurable: isDurable, resuming: resuming, checksum: checksum))
    }

    /// The body in a file; the value is where it is.
    public static func file(_ destination: FileDestination) -> ResponseConverter {
        ResponseConverter(streaming: true) { try await destination.write($1, of: $0) }
            .wrappingTransport { DownloadTransport(base: $0, destination: destination) }
    }
}

extension ResponseConverter where Value == IncomingBody {
    /// The body, piece by piece, as it comes. Not pulling holds the server back; letting go of it ends the transfer.
    public static var stream: ResponseConverter { ResponseConverter { $1 } }
}

extension ResponseConverter where Value == BodySequence<String> {
    /// The body as lines of UTF-8, as they come.
    public static var lines: ResponseConverter { ResponseConverter { BodySequence(BodyLines($1)) } }
}

extension ResponseConverter where Value == BodySequence<ServerSentEvent> {
    /// The body as server-sent events, as they come. A response of another type than `text/event-stream` is an error.
    public static var serverSentEvents: ResponseConverter {
        ResponseConverter { BodySequence(try $0.events(in: $1)) }.defaultHeaders(.events)
    }
}

extension ResponseConverter where Value == ServerSentEvents? {
    /// The events; nil if the server says, with 204, that there will be none.
    ///
    /// - Parameter lastEventID: The identifier to go on from.
    static func eventsUnlessOver(after lastEventID: String) -> ResponseConverter {
        ResponseConverter {
            $0.status == .noContent ? nil : try $0.events(in: $1, after: lastEventID)
        }
        .defaultHeaders(.events).overridingHeaders(lastEventID.isEmpty ? [] : [.lastEventID: lastEventID])
    }
}

extension HTTPHeaders {
    fileprivate static let events: HTTPHeaders = [
        HTTPHeader.accept(.eventStream), HTTPHeader(.cacheControl, "no-store"),
    ]
}

extension HTTPResponse {
    fileprivate func events(in body: IncomingBody, after lastEventID: String = "") throws -> ServerSentEvents {
        guard headers.contentType?.withoutParameters == .eventStream else {
            throw NetworkError(
                .unacceptableMediaType,
                reason: "the answer is \(headers[.contentType] ?? "of no type"), not text/event-stream")
        }
        return ServerSentEvents(body, after: lastEventID)
    }
}

extension ResponseConverter {
    /// The body as JSON values, one a line, as they come (`application/x-ndjson`). Blank lines are passed over.
    public static func jsonLines<Element: Decodable & Sendable>(
        _ type: Element.Type = Element.self, decoder: JSONDecoder? = nil
    ) -> ResponseConverter where Value == BodySequence<Element> {
        ResponseConverter(decodingStream: { BodySequence(JSONLines(BodyLines($1), decoder: decoder ?? $2)) })
    }
}
