/// Requests and responses.
extension HARArchive {
    /// The request of an exchange.
    package struct Request: Codable, Sendable, Hashable {
        /// The method of the request.
        package var method: String
        /// The URL, without its fragment.
        package var url: String
        /// The HTTP version, if it is known.
        package var httpVersion: String?
        /// Empty, because cookies are in the header fields.
        package var cookies: Unread<NoElements>? = Unread()
        /// The header fields.
        package var headers: [Pair]?
        /// The items of the query, decoded.
        package var queryString: [Pair]?
        /// The body of the request. Nil if there is none.
        package var postData: PostData?
        /// The size of the head in bytes. Always -1, because it is not known.
        package var headersSize: Unread<Unknown>? = Unread()
        /// The length of the body in bytes. -1 if it is not known.
        package var bodySize: Int?
    }

    /// The response of an exchange.
    package struct Response: Codable, Sendable, Hashable {
        /// The status code. 0 if there was no response.
        package var status: Int
        /// The reason phrase of the status.
        package var statusText: String?
        /// The HTTP version, if it is known.
        package var httpVersion: String?
        /// Empty, because cookies are in the header fields.
        package var cookies: Unread<NoElements>? = Unread()
        /// The header fields.
        package var headers: [Pair]?
        /// The body of the response.
        package var content: Content?
        /// The target of a redirect. Empty if the response is not a redirect.
        package var redirectURL: String?
        /// The size of the head in bytes. Always -1, because it is not known.
        package var headersSize: Unread<Unknown>? = Unread()
        /// The size of the transferred body in bytes. Always -1, because only the length of the decoded body is known.
        package var bodySize: Unread<Unknown>? = Unread()
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
        package var mimeType: String?
        /// The body as text; base64 text if ``encoding`` is `base64`.
        package var text: String?
        /// Empty, because ``text`` contains the complete body.
        package var params: Unread<NoElements>? = Unread()
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
}

extension HARArchive {
    /// A member that the format requires, but that the library does not read. The value that another program has
    /// written is ignored.
    package struct Unread<Value: UnreadValue>: Codable, Sendable, Hashable {
        init() {}

        /// Reads nothing.
        package init(from decoder: any Decoder) {}

        /// Writes the value of the member.
        package func encode(to encoder: any Encoder) throws { try Value.json.encode(to: encoder) }
    }

    /// The value that a member always has.
    package protocol UnreadValue: Sendable, Hashable {
        static var json: JSONValue { get }
    }

    package enum Creator: UnreadValue { package static var json: JSONValue { ["name": "Networking", "version": "1"] } }
    package enum NoElements: UnreadValue { package static var json: JSONValue { [] } }
    package enum NoMembers: UnreadValue { package static var json: JSONValue { [:] } }
    package enum Unknown: UnreadValue { package static var json: JSONValue { .int(-1) } }
}
