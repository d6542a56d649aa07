/// A response whose body is not read: any body, also an empty one, is accepted. For typed endpoints without a
/// value; a call whose result is not wanted needs none.
public struct EmptyAnswer: Decodable, Hashable, Sendable {
    /// Makes a response.
    public init() {}

    /// Reads anything.
    public init(from decoder: any Decoder) {}
}

/// A response whose JSON tells a status of the server's own: the member `code`, `statusCode` or `status`.
public struct StatusAnswer: Decodable, Hashable, Sendable {
    /// The status.
    public let status: HTTPStatus

    /// Makes a response.
    public init(_ status: HTTPStatus) {
        self.status = status
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case code, statusCode, status
    }

    /// Reads the first of the three members that is a number, or a text of digits.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        for key in CodingKeys.allCases {
            let number = try? members.decode(Int.self, forKey: key)
            if let code = number ?? (try? members.decode(String.self, forKey: key)).flatMap({ Int($0) }) {
                status = HTTPStatus(code)
                return
            }
        }
        throw DecodingError.keyNotFound(
            CodingKeys.status,
            DecodingError.Context(
                codingPath: decoder.codingPath, debugDescription: "there is no code, statusCode or status"))
    }
}
