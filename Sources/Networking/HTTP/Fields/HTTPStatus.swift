import Foundation

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
    /// Returns the `Location` to which a response with this code and these fields redirects (RFC 9110 section 15.4);
    /// nil if the response is not a redirect.
    func location(in headers: HTTPHeaders) -> String? {
        // Most responses are not redirects, so the faster comparison comes first.
        guard isRedirection, [301, 302, 303, 307, 308].contains(code),
            let location = headers.values(for: .location).first, !location.isEmpty
        else { return nil }
        return location
    }
    /// Whether the code is from 400 to 499: the server cannot fulfill the request as it is.
    public var isClientError: Bool { (400..<500).contains(code) }
    /// Whether the code is from 500 to 599: the server failed to fulfill a valid request.
    public var isServerError: Bool { (500..<600).contains(code) }

    /// Whether the left code is less than the right code.
    public static func < (lhs: HTTPStatus, rhs: HTTPStatus) -> Bool {
        lhs.code < rhs.code
    }
}

/// The statuses that a validator accepts.
enum AcceptedStatuses: Hashable, CustomStringConvertible, Sendable {
    case range(Range<Int>)
    case set(Set<HTTPStatus>)

    /// The codes as a text: `200 to 299`, `201, 204`.
    var description: String {
        switch self {
        case .range(let codes): "\(codes.lowerBound) to \(codes.upperBound - 1)"
        case .set(let statuses): statuses.map(\.code).sorted().map(String.init).joined(separator: ", ")
        }
    }

    func contains(_ status: HTTPStatus) -> Bool {
        switch self {
        case .range(let codes): codes.contains(status.code)
        case .set(let statuses): statuses.contains(status)
        }
    }
}

extension HTTPStatus: CustomStringConvertible {
    /// The code and its reason phrase: `404 Not Found`.
    public var description: String { reasonPhrase.isEmpty ? "\(code)" : "\(code) \(reasonPhrase)" }
}

/// The status codes of the [IANA registry](https://www.iana.org/assignments/http-status-codes) that clients use most
/// often. Write any other code as `HTTPStatus(520)`, or as an integer literal where a status is expected.
extension HTTPStatus {
    /// 100 Continue.
    public static let `continue` = HTTPStatus(100)
    /// 101 Switching Protocols.
    public static let switchingProtocols = HTTPStatus(101)
    /// 200 OK.
    public static let ok = HTTPStatus(200)
    /// 201 Created.
    public static let created = HTTPStatus(201)
    /// 202 Accepted.
    public static let accepted = HTTPStatus(202)
    /// 204 No Content.
    public static let noContent = HTTPStatus(204)
    /// 205 Reset Content.
    public static let resetContent = HTTPStatus(205)
    /// 206 Partial Content.
    public static let partialContent = HTTPStatus(206)
    /// 301 Moved Permanently.
    public static let movedPermanently = HTTPStatus(301)
    /// 302 Found.
    public static let found = HTTPStatus(302)
    /// 303 See Other.
    public static let seeOther = HTTPStatus(303)
    /// 304 Not Modified.
    public static let notModified = HTTPStatus(304)
    /// 307 Temporary Redirect.
    public static let temporaryRedirect = HTTPStatus(307)
    /// 308 Permanent Redirect.
    public static let permanentRedirect = HTTPStatus(308)
    /// 400 Bad Request.
    public static let badRequest = HTTPStatus(400)
    /// 401 Unauthorized.
    public static let unauthorized = HTTPStatus(401)
    /// 402 Payment Required.
    public static let paymentRequired = HTTPStatus(402)
    /// 403 Forbidden.
    public static let forbidden = HTTPStatus(403)
    /// 404 Not Found.
    public static let notFound = HTTPStatus(404)
    /// 405 Method Not Allowed.
    public static let methodNotAllowed = HTTPStatus(405)
    /// 406 Not Acceptable.
    public static let notAcceptable = HTTPStatus(406)
    /// 407 Proxy Authentication Required.
    public static let proxyAuthenticationRequired = HTTPStatus(407)
    /// 408 Request Timeout.
    public static let requestTimeout = HTTPStatus(408)
    /// 409 Conflict.
    public static let conflict = HTTPStatus(409)
    /// 410 Gone.
    public static let gone = HTTPStatus(410)
    /// 412 Precondition Failed.
    public static let preconditionFailed = HTTPStatus(412)
    /// 413 Content Too Large.
    public static let contentTooLarge = HTTPStatus(413)
    /// 415 Unsupported Media Type.
    public static let unsupportedMediaType = HTTPStatus(415)
    /// 416 Range Not Satisfiable.
    public static let rangeNotSatisfiable = HTTPStatus(416)
    /// 422 Unprocessable Content.
    public static let unprocessableContent = HTTPStatus(422)
    /// 423 Locked.
    public static let locked = HTTPStatus(423)
    /// 425 Too Early.
    public static let tooEarly = HTTPStatus(425)
    /// 428 Precondition Required.
    public static let preconditionRequired = HTTPStatus(428)
    /// 429 Too Many Requests.
    public static let tooManyRequests = HTTPStatus(429)
    /// 451 Unavailable For Legal Reasons.
    public static let unavailableForLegalReasons = HTTPStatus(451)
    /// 500 Internal Server Error.
    public static let internalServerError = HTTPStatus(500)
    /// 501 Not Implemented.
    public static let notImplemented = HTTPStatus(501)
    /// 502 Bad Gateway.
    public static let badGateway = HTTPStatus(502)
    /// 503 Service Unavailable.
    public static let serviceUnavailable = HTTPStatus(503)
    /// 504 Gateway Timeout.
    public static let gatewayTimeout = HTTPStatus(504)
    /// 511 Network Authentication Required.
    static let networkAuthenticationRequired = HTTPStatus(511)
}

extension HTTPStatus {
    /// The reason phrase of the registry, or the common phrase of an unregistered code; empty for other codes.
    public var reasonPhrase: String { HTTPStatus.reasonPhrases[code] ?? "" }

    private static let reasonPhrases: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        205: "Reset Content", 206: "Partial Content", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        305: "Use Proxy", 306: "Switch Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout",
        409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
        414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
        418: "I'm a Teapot", 421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked",
        424: "Failed Dependency", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported", 506: "Variant Also Negotiates",
        507: "Insufficient Storage", 508: "Loop Detected", 510: "Not Extended", 511: "Network Authentication Required",
        // Unregistered codes.
        419: "Authentication Timeout", 420: "Method Failure", 444: "No Response", 494: "Request Header Too Large",
        495: "Certificate Error", 496: "No Certificate", 497: "HTTP to HTTPS", 499: "Client Closed Request",
        509: "Bandwidth Limit Exceeded", 520: "Web Server Returned an Unknown Error", 521: "Web Server Is Down",
        522: "Connection Timed Out", 523: "Origin Is Unreachable", 524: "A Timeout Occurred",
        598: "Network Read Timeout Error", 599: "Network Connect Timeout Error",
    ]
}

// What a status says about the execution of a request.
extension HTTPStatus {
    /// Whether the server says that it has not executed the request, and may execute it later.
    var meansNotNow: Bool {
        [.requestTimeout, 421, .tooEarly, .tooManyRequests, .serviceUnavailable, 529].contains(self)
    }

    /// Whether the status comes from a gateway that has received no valid response from the server behind it. (526
    /// means that the server's certificate is not valid.)
    var isOfGateway: Bool {
        [.badGateway, .gatewayTimeout, 520, 521, 522, 523, 524, 525, 527, 530, 598, 599].contains(self)
    }

    /// Whether the server may have executed a request to which it responds with this status.
    package var mayFollowExecution: Bool { !isClientError && !meansNotNow }
}

extension HTTPStatus {
    /// The maximum number of bytes of a rejected response's body that are kept.
    static let rejectedBodySize = 1 << 20
    /// The maximum number of bytes of the response's body that are kept for an attempt if another attempt follows.
    static let earlierBodySize = 64 << 10

    /// Returns the bytes of a body that an error keeps. Empty if the status is a success; otherwise at most 1 MiB,
    /// which is enough for the text of an error.
    func beginning(of body: Data) -> Data {
        isSuccessful ? Data() : Data(body.prefix(HTTPStatus.rejectedBodySize))
    }
}
