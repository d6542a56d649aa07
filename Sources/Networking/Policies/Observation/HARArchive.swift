public import Foundation

/// A record of HTTP exchanges in the HTTP Archive format, version 1.2
/// (http://www.softwareishard.com/blog/har-12-spec/), as browsers' developer tools write and open it.
///
/// ``HARRecorder`` makes one of what a service does; `ReplayTransport` of `NetworkingTesting` answers from one.
public struct HARArchive: Codable, Sendable, Hashable {
    /// The exchanges with who recorded them.
    package var log: Log

    /// Makes an archive of exchanges.
    init(entries: [Entry] = []) {
        log = Log(entries: entries)
    }

    /// How many exchanges it has.
    public var count: Int { log.entries.count }

    /// Reads an archive.
    ///
    /// - Throws: `DecodingError` where it is none.
    public init(data: Data) throws {
        self = try JSONDecoder().decode(HARArchive.self, from: data)
    }

    /// The archive as a `.har` file's bytes, with its members in a fixed order.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// The exchanges with who recorded them.
    package struct Log: Codable, Sendable, Hashable {
        /// The format's version.
        package var version = "1.2"
        /// Who recorded them.
        package var creator = Creator()
        /// The exchanges, by the time at which they began.
        package var entries: [Entry]
    }

    /// Who recorded an archive.
    package struct Creator: Codable, Sendable, Hashable {
        /// Its name.
        package var name = "Networking"
        /// Its version.
        package var version = "1"
    }

    /// One exchange: a hop of an attempt of a call.
    package struct Entry: Codable, Sendable, Hashable {
        /// When it began, in ISO 8601.
        package var startedDateTime: String
        /// How long it took, in milliseconds.
        package var time: Double
        /// What was sent.
        package var request: Request
        /// What came back; of status 0 where nothing did.
        package var response: Response
        /// Empty: what is kept is not told.
        package var cache = Cache()
        /// Where the time went.
        package var timings: Timings
        /// What the library knows in addition.
        package var comment: String?
    }

    /// A request.
    package struct Request: Codable, Sendable, Hashable {
        /// The method.
        package var method: String
        /// The URL, without its fragment.
        package var url: String
        /// The version of HTTP, as far as it is known.
        package var httpVersion = "HTTP/1.1"
        /// Empty: cookies stand among the fields.
        package var cookies: [Pair] = []
        /// The header fields.
        package var headers: [Pair]
        /// The items of the query, decoded.
        package var queryString: [Pair]
        /// The body; nil if there is none.
        package var postData: PostData?
        /// Unknown.
        package var headersSize = -1
        /// How many bytes the body has; -1 where that is not known.
        package var bodySize: Int
    }

    /// A response.
    package struct Response: Codable, Sendable, Hashable {
        /// The status; 0 where none came.
        package var status: Int
        /// The status in words.
        package var statusText: String
        /// The version of HTTP, as far as it is known.
        package var httpVersion = "HTTP/1.1"
        /// Empty: cookies stand among the fields.
        package var cookies: [Pair] = []
        /// The header fields.
        package var headers: [Pair]
        /// The body.
        package var content: Content
        /// Where it leads; empty if it leads nowhere.
        package var redirectURL: String
        /// Unknown.
        package var headersSize = -1
        /// Unknown: what is known is how long the body is once it is decoded.
        package var bodySize = -1
        /// What went wrong.
        package var comment: String?
    }

    /// A name and a value.
    package struct Pair: Codable, Sendable, Hashable {
        /// The name.
        package var name: String
        /// The value.
        package var value: String
    }

    /// A request's body.
    package struct PostData: Codable, Sendable, Hashable {
        /// Its media type.
        package var mimeType: String
        /// Its bytes as text; in base64 where ``encoding`` says so.
        package var text: String
        /// Empty: the text has all.
        package var params: [Pair] = []
        /// `base64`, or nil for plain text. The format knows it for responses only, and allows fields of one's own
        /// with an underscore.
        package var encoding: String?

        enum CodingKeys: String, CodingKey {
            case mimeType, text, params
            case encoding = "_encoding"
        }
    }

    /// A response's body.
    package struct Content: Codable, Sendable, Hashable {
        /// How many bytes it has.
        package var size: Int
        /// Its media type.
        package var mimeType: String
        /// Its bytes as text; in base64 where ``encoding`` says so; nil where they are not shown.
        package var text: String?
        /// `base64`, or nil for plain text.
        package var encoding: String?
        /// Why there is no text.
        package var comment: String?
    }

    /// Nothing is recorded about caches.
    package struct Cache: Codable, Sendable, Hashable {}

    /// Where the time went, in milliseconds; -1 where that is not known.
    package struct Timings: Codable, Sendable, Hashable {
        /// Waiting for a place and a token.
        package var blocked: Double
        /// Looking up the host's name.
        package var dns: Double
        /// Connecting, with the TLS handshake.
        package var connect: Double
        /// The TLS handshake.
        package var ssl: Double
        /// Sending; part of ``wait``, since engines do not tell them apart.
        package var send: Double
        /// Waiting for the first byte.
        package var wait: Double
        /// Receiving the rest.
        package var receive: Double
    }
}

/// What browsers leave out has its default.
extension HARArchive.Log {
    /// Reads the exchanges.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        version = try members.decodeIfPresent(String.self, forKey: .version) ?? "1.2"
        creator = (try? members.decodeIfPresent(HARArchive.Creator.self, forKey: .creator)) ?? HARArchive.Creator()
        entries = try members.decode([HARArchive.Entry].self, forKey: .entries)
    }
}

extension HARArchive.Entry {
    /// Reads an exchange.
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
    /// Reads a request.
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
    /// Reads a response.
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
    /// Reads a request's body.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        mimeType = try members.decodeIfPresent(String.self, forKey: .mimeType) ?? ""
        params = (try? members.decodeIfPresent([HARArchive.Pair].self, forKey: .params)) ?? []
        text = try members.decodeIfPresent(String.self, forKey: .text) ?? ""
        encoding = try members.decodeIfPresent(String.self, forKey: .encoding)
    }
}

extension HARArchive.Timings {
    /// Reads where the time went.
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
