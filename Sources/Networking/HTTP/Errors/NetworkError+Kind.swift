public import Foundation

extension NetworkError {
    /// What kind of failure it is. The set is open: a transport of yours may have kinds of its own.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind, such as `cannotConnect`.
        public let description: String

        /// Makes a kind of its name.
        public init(_ name: String) {
            description = name
        }
    }
}

/// Before anything is sent.
extension NetworkError.Kind {
    /// The request cannot be sent as it is: a bad URL, method, header or timeout.
    public static let invalidRequest = Self("invalidRequest")
    /// The body's value cannot be encoded.
    public static let bodyNotEncodable = Self("bodyNotEncodable")
    /// The body's source failed while it was opened or read, or has not as many bytes as it said.
    public static let bodyUnreadable = Self("bodyUnreadable")
    /// No token could be had for a call that needs one; the refresh's error is underlying.
    public static let noToken = Self("noToken")
}

/// Before anything is sent, by policy.
extension NetworkError.Kind {
    /// The host has failed so often of late that nothing is sent to it for a while: see `CircuitBreaker`.
    public static let circuitOpen = Self("circuitOpen")
}

/// On the way.
extension NetworkError.Kind {
    /// The system has no connection to a network.
    public static let notConnected = Self("notConnected")
    /// The system is connected, but only to a network that the request excludes (``NetworkAccess``): cellular,
    /// expensive, or in Low Data Mode. Not retried, because being reachable changes nothing. Apple platforms only.
    public static let networkRestricted = Self("networkRestricted")
    /// The host's name has no address.
    public static let cannotResolveHost = Self("cannotResolveHost")
    /// The host refuses the connection.
    public static let cannotConnect = Self("cannotConnect")
    /// The connection was lost before the head of a response was received.
    public static let connectionLostBeforeHead = Self("connectionLostBeforeHead")
    /// The connection was lost after the head of the response was received.
    public static let connectionLostAfterHead = Self("connectionLostAfterHead")
    /// Connecting took longer than its timeout.
    public static let connectTimedOut = Self("connectTimedOut")
    /// Nothing moved for as long as the idle timeout.
    public static let idleTimedOut = Self("idleTimedOut")
    /// The call's total deadline passed.
    public static let deadlineTimedOut = Self("deadlineTimedOut")
    /// The server's certificate is not trusted.
    public static let tlsUntrusted = Self("tlsUntrusted")
    /// No secure connection could be made.
    public static let tlsFailed = Self("tlsFailed")
    /// The body ended before its announced end.
    public static let truncatedBody = Self("truncatedBody")
    /// What came back is not HTTP.
    public static let malformedResponse = Self("malformedResponse")
    /// The body's content coding (gzip, deflate, br, zstd) is broken, or ends early.
    public static let undecodableContent = Self("undecodableContent")
    /// The response is larger than the call's bound.
    public static let responseTooLarge = Self("responseTooLarge")
    /// There were more redirects than allowed.
    public static let tooManyRedirects = Self("tooManyRedirects")
    /// A redirect was not followed: to an insecure or unreadable place, or with a body that cannot be sent again.
    public static let redirectRefused = Self("redirectRefused")
    /// The transport was shut down.
    public static let transportShutDown = Self("transportShutDown")
    /// Anything else; see the underlying error.
    public static let unknown = Self("unknown")
}

/// About the response, and about the call.
extension NetworkError.Kind {
    /// The status is not among those accepted.
    public static let unacceptableStatus = Self("unacceptableStatus")
    /// The content's media type is not among those accepted.
    public static let unacceptableMediaType = Self("unacceptableMediaType")
    /// A validator of yours said no.
    public static let invalidResponse = Self("invalidResponse")
    /// The body cannot be read as what was wanted; the decoding error is underlying.
    public static let undecodableBody = Self("undecodableBody")
    /// A download's file cannot be written: it is there already, the disk is full, the folder is not there or not
    /// writable.
    public static let fileNotWritable = Self("fileNotWritable")
    /// A download's bytes do not add up to the checksum that was given.
    public static let checksumMismatch = Self("checksumMismatch")
    /// A checksum was given, and the system has nothing to compute it with.
    public static let checksumUnavailable = Self("checksumUnavailable")
    /// The call was cancelled.
    public static let cancelled = Self("cancelled")
    /// The service is being reset.
    public static let resetting = Self("resetting")
}

extension NetworkError.Kind {
    /// Whether a time limit passed: connecting, idle or the total.
    public var isTimeout: Bool {
        self == .connectTimedOut || self == .idleTimedOut || self == .deadlineTimedOut
    }

    /// Whether the connection was lost, before or after the head.
    public var isConnectionLoss: Bool {
        self == .connectionLostBeforeHead || self == .connectionLostAfterHead
    }

    /// The kind as Foundation's code, for `Endpoint.error(for: URLError.Code)`; nil if none says the same.
    public var urlErrorCode: URLError.Code? {
        NetworkError.Kind.urlErrorCodes[self]
    }

    private static let urlErrorCodes: [Self: URLError.Code] = [
        .notConnected: .notConnectedToInternet, .networkRestricted: .notConnectedToInternet,
        .cannotResolveHost: .cannotFindHost,
        .cannotConnect: .cannotConnectToHost,
        .connectionLostBeforeHead: .networkConnectionLost, .connectionLostAfterHead: .networkConnectionLost,
        .connectTimedOut: .timedOut, .idleTimedOut: .timedOut, .deadlineTimedOut: .timedOut,
        .tlsUntrusted: .serverCertificateUntrusted, .tlsFailed: .secureConnectionFailed,
        .truncatedBody: .networkConnectionLost, .malformedResponse: .badServerResponse,
        .responseTooLarge: .dataLengthExceedsMaximum, .undecodableContent: .cannotDecodeContentData,
        .tooManyRedirects: .httpTooManyRedirects, .redirectRefused: .redirectToNonExistentLocation,
        .invalidRequest: .badURL, .cancelled: .cancelled, .noToken: .userAuthenticationRequired,
        .undecodableBody: .cannotDecodeContentData,
    ]

    init(_ interruption: Interruption) {
        switch interruption {
        case .cancelled, .paused: self = .cancelled
        case .deadlineExceeded: self = .deadlineTimedOut
        case .resetting: self = .resetting
        }
    }

    /// The kind that one of Foundation's codes stands for, where nothing more is known.
    init(_ code: URLError.Code) {
        switch code {
        case .cancelled: self = .cancelled
        case .timedOut: self = .idleTimedOut
        case .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed: self = .notConnected
        case .cannotFindHost, .dnsLookupFailed: self = .cannotResolveHost
        case .cannotConnectToHost: self = .cannotConnect
        case .networkConnectionLost: self = .connectionLostBeforeHead
        case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
            .serverCertificateHasUnknownRoot:
            self = .tlsUntrusted
        case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired,
            .appTransportSecurityRequiresSecureConnection:
            self = .tlsFailed
        case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
            .zeroByteResource:
            self = .malformedResponse
        case .dataLengthExceedsMaximum: self = .responseTooLarge
        case .httpTooManyRedirects: self = .tooManyRedirects
        case .badURL, .unsupportedURL: self = .invalidRequest
        default: self = .unknown
        }
    }

    /// The kind in words.
    var explanation: String {
        NetworkError.Kind.explanations[self] ?? description
    }

    private static let explanations: [Self: String] = [
        .invalidRequest: "the request cannot be sent as it is", .bodyNotEncodable: "the body cannot be encoded",
        .bodyUnreadable: "the request's body cannot be read",
        .noToken: "no access token could be had",
        .circuitOpen: "the host has failed too often of late",
        .notConnected: "there is no network connection",
        .networkRestricted: "the network is one that may not be used",
        .cannotResolveHost: "the host's name cannot be resolved",
        .cannotConnect: "the host refuses the connection",
        .connectionLostBeforeHead: "the connection was lost before an answer came",
        .connectionLostAfterHead: "the connection was lost in the middle of the answer",
        .connectTimedOut: "connecting took too long", .idleTimedOut: "nothing moved for too long",
        .deadlineTimedOut: "the call's deadline passed", .tlsUntrusted: "the server's certificate is not trusted",
        .tlsFailed: "no secure connection could be made", .truncatedBody: "the answer's body is cut off",
        .malformedResponse: "the response is not HTTP", .responseTooLarge: "the response is too large",
        .undecodableContent: "the body's content coding is broken",
        .tooManyRedirects: "there were too many redirects", .redirectRefused: "the redirect was not followed",
        .transportShutDown: "the transport was shut down", .unknown: "the request failed",
        .unacceptableStatus: "the status is not acceptable", .unacceptableMediaType: "the media type is not acceptable",
        .invalidResponse: "the response is not valid", .undecodableBody: "the body cannot be read",
        .fileNotWritable: "the file cannot be written",
        .checksumMismatch: "the file has another checksum", .checksumUnavailable: "no checksum can be computed here",
        .cancelled: "the call was cancelled",
        .resetting: "the service is being reset",
    ]
}

extension NetworkError {
    /// Whether the head of a response was received, and its body was not, or not completely.
    var isAboutBody: Bool {
        let kinds: Set<Kind> = [
            .connectionLostAfterHead, .truncatedBody, .undecodableContent, .responseTooLarge, .idleTimedOut, .cancelled,
        ]
        return kinds.contains(kind)
    }
}
