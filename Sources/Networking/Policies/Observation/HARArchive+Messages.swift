/// Requests and responses.
extension HARArchive {
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
}

// The decoding initializers below give default values to the members that browsers omit.
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
