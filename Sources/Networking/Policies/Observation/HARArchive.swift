public import Foundation

/// A record of HTTP exchanges in the HTTP Archive format, version 1.2 (http://www.softwareishard.com/blog/har-12-spec/), as browsers' developer
/// tools write and open it.
///
/// ``HARRecorder`` makes one of what a service does; `ReplayTransport` of `NetworkingTesting` answers from one.
public struct HARArchive: Codable, Sendable, Hashable {
    /// The exchanges with who recorded them.
    public var log: Log

    /// Makes an archive of exchanges.
    init(entries: [Entry] = []) {
        log = Log(entries: entries)
    }

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
    public struct Log: Codable, Sendable, Hashable {
        /// The format's version.
        public var version = "1.2"
        /// Who recorded them.
        public var creator = Creator()
        /// The exchanges, by the time at which they began.
        public var entries: [Entry]
    }

    /// Who recorded an archive.
    public struct Creator: Codable, Sendable, Hashable {
        /// Its name.
        public var name = "Networking"
        /// Its version.
        public var version = "1"
    }

    /// One exchange: a hop of an attempt of a call.
    public struct Entry: Codable, Sendable, Hashable {
        /// When it began, in ISO 8601.
        public var startedDateTime: String
        /// How long it took, in milliseconds.
        public var time: Double
        /// What was sent.
        public var request: Request
        /// What came back; of status 0 where nothing did.
        public var response: Response
        /// Empty: what is kept is not told.
        public var cache = Cache()
        /// Where the time went.
        public var timings: Timings
        /// What the library knows besides.
        public var comment: String?
    }

    /// A request.
    public struct Request: Codable, Sendable, Hashable {
        /// The method.
        public var method: String
        /// The URL, without its fragment.
        public var url: String
        /// The version of HTTP, as far as it is known.
        public var httpVersion = "HTTP/1.1"
        /// Empty: cookies stand among the fields.
        public var cookies: [Pair] = []
        /// The header fields.
        public var headers: [Pair]
        /// The items of the query, decoded.
        public var queryString: [Pair]
        /// The body; nil where there is none.
        public var postData: PostData?
        /// Unknown.
        public var headersSize = -1
        /// How many bytes the body has; -1 where that is not known.
        public var bodySize: Int
    }

    /// A response.
    public struct Response: Codable, Sendable, Hashable {
        /// The status; 0 where none came.
        public var status: Int
        /// The status in words.
        public var statusText: String
        /// The version of HTTP, as far as it is known.
        public var httpVersion = "HTTP/1.1"
        /// Empty: cookies stand among the fields.
        public var cookies: [Pair] = []
        /// The header fields.
        public var headers: [Pair]
        /// The body.
        public var content: Content
        /// Where it leads; empty where it leads nowhere.
        public var redirectURL: String
        /// Unknown.
        public var headersSize = -1
        /// Unknown: what is known is how long the body is once it is decoded.
        public var bodySize = -1
        /// What went wrong.
        public var comment: String?
    }

    /// A name and a value.
    public struct Pair: Codable, Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
    }

    /// A request's body.
    public struct PostData: Codable, Sendable, Hashable {
        /// Its media type.
        public var mimeType: String
        /// Its bytes as text; in base64 where ``encoding`` says so.
        public var text: String
        /// Empty: the text has all.
        public var params: [Pair] = []
        /// `base64`, or nil for plain text. The format knows it for responses only, and allows fields of one's own with an underscore.
        public var encoding: String?

        enum CodingKeys: String, CodingKey {
            case mimeType, text, params
            case encoding = "_encoding"
        }
    }

    /// A response's body.
    public struct Content: Codable, Sendable, Hashable {
        /// How many bytes it has.
        public var size: Int
        /// Its media type.
        public var mimeType: String
        /// Its bytes as text; in base64 where ``encoding`` says so; nil where they are not shown.
        public var text: String?
        /// `base64`, or nil for plain text.
        public var encoding: String?
        /// Why there is no text.
        public var comment: String?
    }

    /// Nothing is told about caches.
    public struct Cache: Codable, Sendable, Hashable {}

    /// Where the time went, in milliseconds; -1 where that is not known.
    public struct Timings: Codable, Sendable, Hashable {
        /// Waiting for a place and a token.
        public var blocked: Double
        /// Looking up the host's name.
        public var dns: Double
        /// Connecting, with the TLS handshake.
        public var connect: Double
        /// The TLS handshake.
        public var ssl: Double
        /// Sending; part of ``wait``, since engines do not tell them apart.
        public var send: Double
        /// Waiting for the first byte.
        public var wait: Double
        /// Receiving the rest.
        public var receive: Double
    }
}

/// What browsers leave out has its default.
extension HARArchive.Log {
    /// Reads the exchanges.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        version = try members.decodeIfPresent(String.self, forKey: .version) ?? "1.2"
        creator = (try? members.decodeIfPresent(HARArchive.Creator.self, forKey: .creator)) ?? HARArchive.Creator()
        entries = try members.decode([HARArchive.Entry].self, forKey: .entries)
    }
}

extension HARArchive.Entry {
    /// Reads an exchange.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        startedDateTime = try members.decode(String.self, forKey: .startedDateTime)
        time = try members.decodeIfPresent(Double.self, forKey: .time) ?? 0
        request = try members.decode(HARArchive.Request.self, forKey: .request)
        response = try members.decode(HARArchive.Response.self, forKey: .response)
        timings =
            try members.decodeIfPresent(HARArchive.Timings.self, forKey: .timings)
            ?? HARArchive.Timings(ResponseTiming(), queued: nil, total: .zero)
        comment = try members.decodeIfPresent(String.self, forKey: .comment)
    }
}

extension HARArchive.Request {
    /// Reads a request.
    public init(from decoder: any Decoder) throws {
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
    public init(from decoder: any Decoder) throws {
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
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        mimeType = try members.decodeIfPresent(String.self, forKey: .mimeType) ?? ""
        params = (try? members.decodeIfPresent([HARArchive.Pair].self, forKey: .params)) ?? []
        text = try members.decodeIfPresent(String.self, forKey: .text) ?? ""
        encoding = try members.decodeIfPresent(String.self, forKey: .encoding)
    }
}

extension HARArchive.Timings {
    /// Reads where the time went.
    public init(from decoder: any Decoder) throws {
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
