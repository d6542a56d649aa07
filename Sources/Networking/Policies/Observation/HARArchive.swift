public import Foundation

/// A record of HTTP exchanges in the HTTP Archive format, version 1.2
/// (http://www.softwareishard.com/blog/har-12-spec/). The developer tools of browsers can save and open this format.
///
/// ``HARRecorder`` creates an archive of the calls of a service. `ReplayTransport` of `NetworkingTesting` returns the
/// responses of an archive.
public struct HARArchive: Codable, Sendable, Hashable {
    /// The only member of the format's top-level object.
    package var log: Log

    /// Creates an archive of exchanges.
    init(entries: [Entry] = []) {
        log = Log(entries: entries)
    }

    /// The number of exchanges.
    public var count: Int { log.entries.count }

    /// Parses an archive.
    ///
    /// - Throws: `DecodingError` if the data is not an archive.
    public init(data: Data) throws {
        self = try JSONDecoder().decode(HARArchive.self, from: data)
    }

    /// Returns the archive as the content of a `.har` file. The JSON members are sorted by name.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// The exchanges and the program that recorded them.
    package struct Log: Codable, Sendable, Hashable {
        /// The version of the format.
        package var version = "1.2"
        /// The program that recorded the exchanges.
        package var creator = Creator()
        /// The exchanges, ordered by the time at which they began.
        package var entries: [Entry]
    }

    /// The program that recorded an archive.
    package struct Creator: Codable, Sendable, Hashable {
        /// The name of the program.
        package var name = "Networking"
        /// The version of the program.
        package var version = "1"
    }

    /// One exchange: a request of an attempt, or a request that follows a redirect, and the response.
    package struct Entry: Codable, Sendable, Hashable {
        /// The time at which the exchange began, in ISO 8601.
        package var startedDateTime: String
        /// The duration of the exchange in milliseconds.
        package var time: Double
        /// The request that was sent.
        package var request: Request
        /// The response. If there was no response, its status is 0.
        package var response: Response
        /// Empty; if the response comes from a cache, ``comment`` says so.
        package var cache = Cache()
        /// The durations of the phases.
        package var timings: Timings
        /// Additional information from the library.
        package var comment: String?
    }

    /// The request of an exchange.
    package struct Request: Codable, Sendable, Hashable {
        /// The method of the request.
        package var method: String
        /// The URL, without its fragment.
        package var url: String
        /// The HTTP version, if it is known.
        package var httpVersion = "HTTP/1.1"
        /// Empty, because cookies are in the header fields.
        package var cookies: [Pair] = []
        /// The header fields.
        package var headers: [Pair]
        /// The items of the query, decoded.
        package var queryString: [Pair]
        /// The body of the request. Nil if there is none.
        package var postData: PostData?
        /// The size of the head in bytes. Always -1, because it is not known.
        package var headersSize = -1
        /// The length of the body in bytes. -1 if it is not known.
        package var bodySize: Int
    }

    /// The response of an exchange.
    package struct Response: Codable, Sendable, Hashable {
        /// The status code. 0 if there was no response.
        package var status: Int
        /// The reason phrase of the status.
        package var statusText: String
        /// The HTTP version, if it is known.
        package var httpVersion = "HTTP/1.1"
        /// Empty, because cookies are in the header fields.
        package var cookies: [Pair] = []
        /// The header fields.
        package var headers: [Pair]
        /// The body of the response.
        package var content: Content
        /// The target of a redirect. Empty if the response is not a redirect.
        package var redirectURL: String
        /// The size of the head in bytes. Always -1, because it is not known.
        package var headersSize = -1
        /// The size of the transferred body in bytes. Always -1, because only the length of the decoded body is known.
        package var bodySize = -1
        /// The kind of the error, if the exchange failed.
        package var comment: String?
    }

    /// A name and a value.
    package struct Pair: Codable, Sendable, Hashable {
        /// The name.
        package var name: String
        /// The value.
        package var value: String
    }

    /// The body of a request.
    package struct PostData: Codable, Sendable, Hashable {
        /// The media type of the body.
        package var mimeType: String
        /// The body as text; base64 text if ``encoding`` is `base64`.
        package var text: String
        /// Empty, because ``text`` contains the complete body.
        package var params: [Pair] = []
        /// `base64`, or nil for plain text. The format defines this member only for responses. It allows custom members
        /// whose names begin with an underscore.
        package var encoding: String?

        enum CodingKeys: String, CodingKey {
            case mimeType, text, params
            case encoding = "_encoding"
        }
    }

    /// The body of a response.
    package struct Content: Codable, Sendable, Hashable {
        /// The length of the body in bytes.
        package var size: Int
        /// The media type of the body.
        package var mimeType: String
        /// The body as text; base64 text if ``encoding`` is `base64`. Nil if the archive does not contain the body.
        package var text: String?
        /// `base64`, or nil for plain text.
        package var encoding: String?
        /// The reason why there is no text, or why the text is not the complete body.
        package var comment: String?
    }

    /// An empty object, because nothing is recorded about caches.
    package struct Cache: Codable, Sendable, Hashable {}

    /// The durations of the phases in milliseconds. -1 if a duration is not known.
    package struct Timings: Codable, Sendable, Hashable {
        /// The time that the request waited for a permit and a token.
        package var blocked: Double
        /// The duration of the name lookup.
        package var dns: Double
        /// The duration of connecting, including the TLS handshake.
        package var connect: Double
        /// The duration of the TLS handshake.
        package var ssl: Double
        /// The duration of sending. In recorded archives it is zero, and ``wait`` includes it, because engines do not
        /// report it separately.
        package var send: Double
        /// The time of waiting for the first byte.
        package var wait: Double
        /// The time from the first byte of the response to its last byte.
        package var receive: Double
    }
}

// The decoding initializers below give default values to the members that browsers omit.
extension HARArchive.Log {
    /// Decodes the exchanges.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        version = try members.decodeIfPresent(String.self, forKey: .version) ?? "1.2"
        creator = (try? members.decodeIfPresent(HARArchive.Creator.self, forKey: .creator)) ?? HARArchive.Creator()
        entries = try members.decode([HARArchive.Entry].self, forKey: .entries)
    }
}

extension HARArchive.Entry {
    /// Decodes an exchange.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        startedDateTime = try members.decode(String.self, forKey: .startedDateTime)
        time = try members.decodeIfPresent(Double.self, forKey: .time) ?? 0
        request = try members.decode(HARArchive.Request.self, forKey: .request)
        response = try members.decode(HARArchive.Response.self, forKey: .response)
        timings =
            try members.decodeIfPresent(HARArchive.Timings.self, forKey: .timings)
            ?? HARArchive.Timings(HTTPResponse.Timing(), queued: nil, total: .zero)
        comment = try members.decodeIfPresent(String.self, forKey: .comment)
    }
}

extension HARArchive.Request {
    /// Decodes a request.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        method = try members.decode(String.self, forKey: .method)
        url = try members.decode(String.self, forKey: .url)
        httpVersion = try members.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
        headers = try members.decodeIfPresent([HARArchive.Pair].self, forKey: .headers) ?? []
        queryString = try members.decodeIfPresent([HARArchive.Pair].self, forKey: .queryString) ?? []
        postData = try members.decodeIfPresent(HARArchive.PostData.self, forKey: .postData)
        bodySize = try members.decodeIfPresent(Int.self, forKey: .bodySize) ?? -1
    }
}

extension HARArchive.Response {
    /// Decodes a response.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        status = try members.decode(Int.self, forKey: .status)
        statusText = try members.decodeIfPresent(String.self, forKey: .statusText) ?? ""
        httpVersion = try members.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
        headers = try members.decodeIfPresent([HARArchive.Pair].self, forKey: .headers) ?? []
        content =
            try members.decodeIfPresent(HARArchive.Content.self, forKey: .content)
            ?? HARArchive.Content(size: 0, mimeType: "x-unknown")
        redirectURL = try members.decodeIfPresent(String.self, forKey: .redirectURL) ?? ""
        comment = try members.decodeIfPresent(String.self, forKey: .comment)
    }
}

extension HARArchive.PostData {
    /// Decodes the body of a request.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        mimeType = try members.decodeIfPresent(String.self, forKey: .mimeType) ?? ""
        params = (try? members.decodeIfPresent([HARArchive.Pair].self, forKey: .params)) ?? []
        text = try members.decodeIfPresent(String.self, forKey: .text) ?? ""
        encoding = try members.decodeIfPresent(String.self, forKey: .encoding)
    }
}

extension HARArchive.Timings {
    /// Decodes the durations.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func time(_ key: CodingKeys) throws -> Double { try members.decodeIfPresent(Double.self, forKey: key) ?? -1 }
        blocked = try time(.blocked)
        dns = try time(.dns)
        connect = try time(.connect)
        ssl = try time(.ssl)
        send = try time(.send)
        wait = try time(.wait)
        receive = try time(.receive)
    }
}
