/// A status code, [RFC 9110 section 15](https://www.rfc-editor.org/rfc/rfc9110#section-15).
///
/// Any three-digit number can be a status, for example `HTTPStatus(520)`. The registered codes and some common
/// unregistered codes have a reason phrase.
public struct HTTPStatus: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    /// The three-digit status code.
    public let code: Int

    /// Creates a status from its code.
    public init(_ code: Int) {
        self.code = code
    }

    /// Creates a status from an integer literal.
    public init(integerLiteral value: Int) {
        self.code = value
    }

    /// Whether the code is from 100 to 199: the final response follows.
    var isInformational: Bool { (100..<200).contains(code) }
    /// Whether the code is from 200 to 299: the server received, understood and accepted the request.
    public var isSuccessful: Bool { (200..<300).contains(code) }
    /// Whether the code is from 300 to 399: the client must take further action.
    public var isRedirection: Bool { (300..<400).contains(code) }
    /// Whether the code is from 400 to 499: the server cannot fulfill the request as it is.
    public var isClientError: Bool { (400..<500).contains(code) }
    /// Whether the code is from 500 to 599: the server failed to fulfill a valid request.
    public var isServerError: Bool { (500..<600).contains(code) }

    /// Whether the left code is less than the right code.
    public static func < (lhs: HTTPStatus, rhs: HTTPStatus) -> Bool {
        lhs.code < rhs.code
    }
}

extension HTTPStatus: CustomStringConvertible {
    /// The code and its reason phrase: `404 Not Found`.
    public var description: String { reasonPhrase.isEmpty ? "\(code)" : "\(code) \(reasonPhrase)" }
}
