public import Foundation

extension NetworkError {
    /// The kind of a failure. The set of kinds is open: your own transport may define more kinds.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind, such as `cannotConnect`.
        public let description: String

        /// Creates a kind with a name.
        public init(_ name: String) {
            description = name
        }
    }
}

/// Failures of the request itself. Most of them occur before anything is sent.
extension NetworkError.Kind {
    /// The request cannot be sent as it is: a bad URL, method, header or timeout.
    public static let invalidRequest = Self("invalidRequest")
    /// A value in the body cannot be encoded.
    public static let bodyNotEncodable = Self("bodyNotEncodable")
    /// The source of the request's body failed while it was opened or read, or the number of bytes that it returned
    /// differs from the length of the body.
    public static let bodyUnreadable = Self("bodyUnreadable")
    /// No token is available for a call that needs a token. The underlying error is the reason: the error of the token
    /// refresh or of the token store, or the end of the session.
    public static let noToken = Self("noToken")
}

/// Failures that a policy causes before anything is sent.
extension NetworkError.Kind {
    /// The host has failed so often recently that no requests are sent to it for a while. See `CircuitBreaker`.
    public static let circuitOpen = Self("circuitOpen")
    /// The host has announced a time in which it accepts no more requests. The call ends at once, because requests do
    /// not wait that long. The reason contains the remaining time. See `BackoffGate`.
    public static let rateLimited = Self("rateLimited")
    /// The call may use only the service's cache, but the cache contains no response for the request. See
    /// ``ResponseCache/Rule/only``.
    public static let notCached = Self("notCached")
}

/// Failures of the transfer.
extension NetworkError.Kind {
    /// The system has no connection to a network.
    public static let notConnected = Self("notConnected")
    /// The request excludes the only available network (``NetworkAccess``), because it is cellular, expensive, or in
    /// Low Data Mode. By default, the call is not retried, because waiting does not help. Apple platforms only.
    public static let networkRestricted = Self("networkRestricted")
    /// The host's name cannot be resolved to an address.
    public static let cannotResolveHost = Self("cannotResolveHost")
    /// The host refuses the connection.
    public static let cannotConnect = Self("cannotConnect")
    /// The connection was lost before the head of a response was received.
    public static let connectionLostBeforeHead = Self("connectionLostBeforeHead")
    /// The connection was lost after the head of the response was received.
    public static let connectionLostAfterHead = Self("connectionLostAfterHead")
    /// The server has refused the request without processing it (RFC 9113 section 8.7). The transport has already sent
    /// the request a second time, or the server has asked the transport not to do so. A retry is safe, whatever the
    /// method is. An upload also ends with this kind if its server is still working on an earlier request (423,
    /// ``HTTPBody/resumable(_:)``).
    public static let notProcessed = Self("notProcessed")
    /// The connection was not established within the connect timeout.
    public static let connectTimedOut = Self("connectTimedOut")
    /// No bytes were transferred during the idle timeout.
    public static let idleTimedOut = Self("idleTimedOut")
    /// The call did not end within its total timeout.
    public static let deadlineTimedOut = Self("deadlineTimedOut")
    /// The server's certificate is not trusted.
    public static let tlsUntrusted = Self("tlsUntrusted")
    /// A TLS connection could not be established.
    public static let tlsFailed = Self("tlsFailed")
    /// The body ended before its announced end.
    public static let truncatedBody = Self("truncatedBody")
    /// The response is not valid HTTP.
    public static let malformedResponse = Self("malformedResponse")
    /// The body's content coding (gzip, deflate, br, zstd) is invalid, or ends early.
    public static let undecodableContent = Self("undecodableContent")
    /// The response is larger than the call's limit.
    public static let responseTooLarge = Self("responseTooLarge")
    /// There were more redirects than allowed.
    public static let tooManyRedirects = Self("tooManyRedirects")
    /// A redirect was not followed, because its `Location` is insecure or invalid, or because the request has a body
    /// that cannot be sent again.
    public static let redirectRefused = Self("redirectRefused")
    /// A ``WebSocket`` was closed. If the other side closed the WebSocket, the underlying error is the
    /// ``WebSocketClose`` of the other side.
    public static let webSocketClosed = Self("webSocketClosed")
    /// The transport or the client was shut down.
    public static let transportShutDown = Self("transportShutDown")
    /// Any other failure. See the underlying error.
    public static let unknown = Self("unknown")
}

/// Failures of the response's content, and of the call.
extension NetworkError.Kind {
    /// The status is not one of the accepted statuses.
    public static let unacceptableStatus = Self("unacceptableStatus")
    /// The media type of the content is not one of the accepted media types.
    public static let unacceptableMediaType = Self("unacceptableMediaType")
    /// A validator of the app rejected the response.
    public static let invalidResponse = Self("invalidResponse")
    /// The body cannot be decoded as the requested type. The underlying error is the decoding error.
    public static let undecodableBody = Self("undecodableBody")
    /// A file cannot be written: it already exists, the disk is full, or the folder does not exist or is not writable.
    /// The file is the target of a download, or the hidden file that stores the URL of an upload.
    public static let fileNotWritable = Self("fileNotWritable")
    /// The bytes of a download do not have the expected checksum.
    public static let checksumMismatch = Self("checksumMismatch")
    /// An upload cannot continue (``HTTPBody/resumable(_:)``): the server does not support tus 1.0, does not accept a
    /// file of this size or violates the protocol, or another call is uploading the same file. The reason of the error
    /// says which of these is the case.
    public static let uploadRefused = Self("uploadRefused")
    /// A checksum is expected, but the system cannot compute it.
    public static let checksumUnavailable = Self("checksumUnavailable")
    /// The call was cancelled.
    public static let cancelled = Self("cancelled")
    /// The service is being reset.
    public static let resetting = Self("resetting")
}

extension NetworkError {
    /// Whether no server has processed the request.
    var isUnprocessed: Bool { Kind.unsentKinds.contains(kind) && redirects.isEmpty }

    /// Whether no server has processed the request. The reason need not be temporary.
    var isUnsent: Bool {
        isUnprocessed || redirects.isEmpty && [.tlsUntrusted, .tlsFailed, .networkRestricted].contains(kind)
    }
}

extension NetworkError.Kind {
    /// Whether the failure is a timeout: connect, idle or total.
    public var isTimeout: Bool {
        self == .connectTimedOut || self == .idleTimedOut || self == .deadlineTimedOut
    }

    /// Whether the connection was lost, before or after the head of the response.
    public var isConnectionLoss: Bool {
        self == .connectionLostBeforeHead || self == .connectionLostAfterHead
    }

    /// Failures that may be temporary and that occur before the server processes the request. They concern only the
    /// last request of the call: before a redirect, a server has already processed an earlier request.
    static let unsentKinds: Set<Self> = [
        .notConnected, .cannotResolveHost, .cannotConnect, .connectTimedOut, .notProcessed,
    ]
    /// Failures that may be temporary.
    static let transientKinds = unsentKinds.union([
        .connectionLostBeforeHead, .connectionLostAfterHead, .truncatedBody, .undecodableContent, .idleTimedOut,
    ])

    /// The Foundation code with the closest meaning, for `Endpoint.error(for: URLError.Code)`; nil if there is none.
    public var urlErrorCode: URLError.Code? {
        NetworkError.Kind.urlErrorCodes[self]
    }

    private static let urlErrorCodes: [Self: URLError.Code] = [
        .notConnected: .notConnectedToInternet, .networkRestricted: .notConnectedToInternet,
        .cannotResolveHost: .cannotFindHost, .cannotConnect: .cannotConnectToHost,
        .connectionLostBeforeHead: .networkConnectionLost, .connectionLostAfterHead: .networkConnectionLost,
        .notProcessed: .networkConnectionLost, .webSocketClosed: .networkConnectionLost, .connectTimedOut: .timedOut,
        .idleTimedOut: .timedOut, .deadlineTimedOut: .timedOut,
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
        case .shutDown: self = .transportShutDown
        }
    }

    /// Creates the kind for a Foundation code, if only the code of the failure is known.
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
        case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired: self = .tlsFailed
        case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
            .zeroByteResource:
            self = .malformedResponse
        case .dataLengthExceedsMaximum: self = .responseTooLarge
        case .httpTooManyRedirects: self = .tooManyRedirects
        case .redirectToNonExistentLocation: self = .redirectRefused
        case .requestBodyStreamExhausted, .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile:
            self = .bodyUnreadable
        // App Transport Security refuses a request before it is sent.
        case .badURL, .unsupportedURL, .appTransportSecurityRequiresSecureConnection: self = .invalidRequest
        default: self = .unknown
        }
    }

    /// The meaning of the kind in words.
    var explanation: String {
        NetworkError.Kind.explanations[self] ?? description
    }

    private static let explanations: [Self: String] = [
        .invalidRequest: "the request cannot be sent as it is", .bodyNotEncodable: "the body cannot be encoded",
        .bodyUnreadable: "the request's body cannot be read", .noToken: "no access token is available",
        .circuitOpen: "the host has failed too often recently",
        .rateLimited: "the host accepts no more requests for now",
        .notProcessed: "the server refused the request without processing it",
        .notCached: "no response is stored in the cache",
        .notConnected: "there is no network connection",
        .networkRestricted: "the available network is excluded by the request",
        .cannotResolveHost: "the host's name cannot be resolved", .cannotConnect: "the host refuses the connection",
        .connectionLostBeforeHead: "the connection was lost before a response was received",
        .connectionLostAfterHead: "the connection was lost in the middle of the response",
        .connectTimedOut: "connecting took too long", .idleTimedOut: "no bytes were transferred for too long",
        .deadlineTimedOut: "the call's deadline has passed", .tlsUntrusted: "the server's certificate is not trusted",
        .tlsFailed: "no TLS connection could be established", .truncatedBody: "the response's body is cut off",
        .malformedResponse: "the response is not valid HTTP", .responseTooLarge: "the response is too large",
        .undecodableContent: "the body's content coding is invalid",
        .tooManyRedirects: "there were too many redirects", .redirectRefused: "the redirect was not followed",
        .webSocketClosed: "the WebSocket was closed",
        .transportShutDown: "the transport or the client was shut down", .unknown: "the request failed",
        .unacceptableStatus: "the status is not acceptable", .unacceptableMediaType: "the media type is not acceptable",
        .invalidResponse: "a validator rejected the response",
        .undecodableBody: "the response's body cannot be decoded",
        .fileNotWritable: "the file cannot be written",
        .checksumMismatch: "the file does not have the expected checksum",
        .uploadRefused: "the upload cannot continue",
        .checksumUnavailable: "the system cannot compute the checksum", .cancelled: "the call was cancelled",
        .resetting: "the service is being reset",
    ]
}

extension NetworkError {
    /// Whether the body of a response can be missing or incomplete because of a failure of this kind, although the head
    /// was received.
    var isAboutBody: Bool {
        [.connectionLostAfterHead, .truncatedBody, .undecodableContent, .responseTooLarge, .idleTimedOut, .cancelled]
            .contains(kind)
    }
}
