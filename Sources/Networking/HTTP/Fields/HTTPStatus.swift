/// A status code, [RFC 9110 section 15](https://www.rfc-editor.org/rfc/rfc9110#section-15).
///
/// Any three-digit number is a status: `HTTPStatus(520)`. The registered ones, and some that servers use
/// unregistered, have names.
public struct HTTPStatus: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    /// The code.
    public let code: Int

    /// Makes a status of its code.
    public init(_ code: Int) {
        self.code = code
    }

    /// Makes a status of its code.
    public init(integerLiteral value: Int) {
        self.code = value
    }

    /// 100 to 199: the final response follows.
    var isInformational: Bool { (100..<200).contains(code) }
    /// 200 to 299: the request was understood and accepted.
    public var isSuccessful: Bool { (200..<300).contains(code) }
    /// 300 to 399: something more is to be done.
    public var isRedirection: Bool { (300..<400).contains(code) }
    /// 400 to 499: the request cannot be fulfilled as it is.
    public var isClientError: Bool { (400..<500).contains(code) }
    /// 500 to 599: the server failed.
    public var isServerError: Bool { (500..<600).contains(code) }

    /// Whether one code is less than another.
    public static func < (lhs: HTTPStatus, rhs: HTTPStatus) -> Bool {
        lhs.code < rhs.code
    }
}

extension HTTPStatus: CustomStringConvertible {
    /// The code with its reason phrase: `404 Not Found`.
    public var description: String { reasonPhrase.isEmpty ? "\(code)" : "\(code) \(reasonPhrase)" }
}
