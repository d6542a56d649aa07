public import Foundation

/// A message of a ``WebSocket``.
public enum WebSocketMessage: Hashable, Sendable {
    /// A text. It is sent as UTF-8.
    case text(String)
    /// Bytes.
    case binary(Data)

    /// The bytes of the message. The bytes of a text are UTF-8.
    public var data: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .binary(let data): data
        }
    }

    /// The number of bytes.
    package var count: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let data): data.count
        }
    }
}

extension WebSocketMessage: RedactedReflectable {

    /// The kind and the number of bytes, and never the content: `text, 12 bytes`.
    var redactedDescription: String {
        switch self {
        case .text(let text): "text, \(text.utf8.count) bytes"
        case .binary(let data): "binary, \(data.count) bytes"
        }
    }
}

/// The end of a ``WebSocket``, as one side announced it in a close frame (RFC 6455 section 5.5.1).
public struct WebSocketClose: Hashable, Error {
    /// A code for the reason of the end (RFC 6455 section 7.4). The set of codes is open: an app may use 4000 to 4999.
    public struct Code: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
        /// The number of the code.
        public let rawValue: UInt16

        /// Creates a code from its number.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Creates a code from a literal.
        public init(integerLiteral value: UInt16) { rawValue = value }

        /// 1000: the purpose of the connection is fulfilled.
        public static let normal: Code = 1000
        /// 1001: the server is shutting down, or the client leaves.
        public static let goingAway: Code = 1001
        /// 1002: the peer has broken the protocol.
        public static let protocolError: Code = 1002
        /// 1003: the peer has sent a message of a kind that is not accepted.
        public static let unsupportedData: Code = 1003
        /// 1005: the close frame contains no code. Never sent.
        public static let none: Code = 1005
        /// 1007: the content of a message does not match its kind, such as a text that is not UTF-8.
        public static let invalidData: Code = 1007
        /// 1008: a message breaks a rule of the receiver.
        public static let policyViolation: Code = 1008
        /// 1009: a message is too large.
        public static let messageTooBig: Code = 1009
        /// 1010: the client expected an extension that the server did not agree to.
        public static let extensionMissing: Code = 1010
        /// 1011: the server failed unexpectedly.
        public static let internalError: Code = 1011
        /// 1012: the server restarts.
        public static let serviceRestart: Code = 1012
        /// 1013: the server is overloaded.
        public static let tryAgainLater: Code = 1013

        /// Whether the code may appear in a close frame (RFC 6455 section 7.4, and the IANA registry).
        package var mayBeSent: Bool {
            switch rawValue {
            case 1000...1003, 1007...1014, 3000...4999: true
            default: false
            }
        }
    }

    /// The code.
    public let code: Code
    /// The text that follows the code in the close frame; often empty. At most 123 bytes of UTF-8.
    public let reason: String

    /// Creates an end.
    ///
    /// - Parameters:
    ///   - code: The code. Default: 1000. A code that must not be sent, such as 1006, is omitted from the close frame;
    ///     `URLSession` sends 1000 instead.
    ///   - reason: A text for the log of the peer. Default: empty. It is cut off after 123 bytes.
    public init(_ code: Code = .normal, reason: String = "") {
        self.code = code
        var end = reason.utf8.endIndex
        if reason.utf8.count > WebSocketClose.longestReason {
            end = reason.utf8.index(reason.utf8.startIndex, offsetBy: WebSocketClose.longestReason)
            while end.samePosition(in: reason.unicodeScalars) == nil { end = reason.utf8.index(before: end) }
        }
        self.reason = String(reason[..<end])
    }

    private static let longestReason = 123
}

extension WebSocketClose: CustomStringConvertible {

    /// The code and the reason, in which control characters are escaped: `1011 (database is gone)`.
    public var description: String {
        reason.isEmpty ? "\(code.rawValue)" : "\(code.rawValue) (\(reason.onOneLine))"
    }
}
