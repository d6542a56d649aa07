import Foundation

extension NetworkError: BridgedError {
    /// The status code if the status is rejected; otherwise the Foundation code with the same meaning, such as -1001
    /// for a timeout. If Foundation has no such code, the code is 0.
    var bridgedCode: Int {
        if kind == .unacceptableStatus, let status { return status.code }
        return kind.urlErrorCode?.rawValue ?? 0
    }

    /// The description, the reason, the suggestion, the URL without query and credentials, and the underlying error.
    var bridgedUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedFailureReasonErrorKey: cause, NSDebugDescriptionErrorKey: description]
        if let errorDescription { info[NSLocalizedDescriptionKey] = errorDescription }
        if let recoverySuggestion { info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion }
        if let url = request.flatMap({ URL(string: $0.url.withoutSecrets) }) {
            info[NSURLErrorFailingURLErrorKey] = url
        }
        if let underlying { info[NSUnderlyingErrorKey] = NetworkError.withoutSecrets(underlying) }
        return info
    }

    /// Returns an error that is safe to show. A `URLError` contains the whole URL with its query, so only its domain,
    /// code and text are retained.
    private static func withoutSecrets(_ error: any Error) -> NSError {
        guard let error = error as? URLError else { return error as NSError }
        return NSError(
            domain: NSURLErrorDomain, code: error.errorCode,
            userInfo: [NSLocalizedDescriptionKey: error.localizedDescription])
    }

    /// The reason alone, without the request: `503 Service Unavailable`.
    public var failureReason: String? { cause }

    /// A suggestion for the user; nil if the user cannot do anything.
    public var recoverySuggestion: String? {
        switch kind {
        case .unacceptableStatus where status == .unauthorized: "Log in and try again."
        case .unacceptableStatus where status == .tooManyRequests || status?.isServerError == true: "Try again later."
        case .notConnected: "Connect to a network and try again."
        case .networkRestricted: "Allow cellular data, turn Low Data Mode off, or connect to another network."
        case .noToken: textsOfRefresh.map(\.suggestion) ?? "Log in and try again."
        case .fileNotWritable where [.ENOSPC, .EDQUOT].contains((underlying as? POSIXError)?.code):
            "Make room on the device and try again."
        case .cannotResolveHost, .cannotConnect, .connectTimedOut, .idleTimedOut, .deadlineTimedOut, .circuitOpen,
            .rateLimited, .notProcessed, .connectionLostBeforeHead, .connectionLostAfterHead, .truncatedBody,
            .checksumMismatch:
            "Try again later."
        default: nil
        }
    }

    /// A suggestion for the developer; nil if there is none.
    public var hint: String? {
        switch kind {
        case .unacceptableStatus where status == .unauthorized && reason == nil:
            request?.headers.contains(.authorization) == true ? nil : NetworkError.unauthorizedHint
        case .invalidRequest where (underlying as? URLError)?.code == .appTransportSecurityRequiresSecureConnection:
            "Nothing was sent. App Transport Security refuses http: use https, or add an exception to the Info.plist."
        case .noToken where isLoggedOut: "Set the token of the session after the log-in (accessToken)."
        case .noToken where (underlying as? any SessionEnding)?.endsSession == false: nil  // the reason says it all
        case .deadlineTimedOut where request == nil: nil  // a refresh, whose reason names the setting
        default: NetworkError.hints[kind]
        }
    }

    private static let unauthorizedHint =
        "A call carries a token if its endpoint or its service's settings have an authorizationType, its service has a "
        + "session (authorizedBy:), and the request goes to the server of the environment or to one of the session's "
        + "origins."

    private static let hints: [Kind: String] = [
        .networkRestricted: "The call's networkAccess excludes the network that is available.",
        .cannotResolveHost: "Check the host's name and the connection to the network.",
        .cannotConnect: "Check that the server runs, and that its host and port are correct.",
        .connectTimedOut: "Check host and port, or allow more time for connecting (timeouts.connect).",
        .idleTimedOut: "Try again, or allow the server more time (timeouts.idle).",
        .deadlineTimedOut: "Allow the call more time (timeouts.total).",
        .tlsFailed: "Check that the server supports https on this port, and whether it requires a client certificate.",
        .undecodableBody:
            "Change the type, or the decoder of the settings (its key and date strategies). "
            + "Decode an optional type if the body may be empty.",
        .unacceptableMediaType:
            "Name the type as accepted (the Accept field or .mediaType), or accept any type (validators: [.status(200..<300)]).",
        .tlsUntrusted: "Check the server's certificate, and the trusted authorities and pins.",
        .responseTooLarge:
            "Raise the limit (maximumResponseSize; for heads and compressed bodies, the transport's Limits), "
            + "or receive the body as a file or as a stream.",
        .fileNotWritable:
            "Check that the folder exists and is writable, and choose what happens to an existing file (overwriting).",
        .noToken: "The session continues, and a later call tries again. See the underlying error.",
        .invalidRequest: "Nothing was sent. Correct the part that the error names.",
        .bodyUnreadable: "Check that the body's source exists and can be read.",
        .transportShutDown: "Make the call with a client and a transport that have not been shut down.",
        .bodyNotEncodable: "Nothing was sent. Correct the value that the error names.",
    ]
}

extension NetworkError {
    /// The reason alone, without the request: `503 Service Unavailable`.
    var cause: String {
        reason ?? (kind == .unacceptableStatus ? response?.status.description : nil) ?? kind.explanation
    }
}

extension NetworkError: RedactedReflectable {
    var reflectedMembers: KeyValuePairs<String, Any> { ["kind": kind, "error": description] }
}

/// An error of the library that bridges to `NSError`, for Objective-C and the system's alerts. The domain contains the
/// name of the type: `Networking.NetworkError`.
protocol BridgedError: LocalizedError, CustomNSError {
    var bridgedCode: Int { get }
    var bridgedUserInfo: [String: Any] { get }
}

extension BridgedError {
    /// The error domain: `Networking.` and the name of the type.
    public static var errorDomain: String { "Networking.\(Self.self)" }
    /// The error code of the `NSError`: ``bridgedCode``.
    public var errorCode: Int { bridgedCode }
    /// The user info of the `NSError`: ``bridgedUserInfo``.
    public var errorUserInfo: [String: Any] { bridgedUserInfo }
}

/// An error that reports whether it means that the session is over.
protocol SessionEnding: Error {
    var endsSession: Bool { get }
}

extension Error {
    /// Whether this error means that the session is over. An error of type ``SessionEnding`` reports this itself. Any
    /// other error of a token refresh means that the session is over if the server has refused the refresh.
    var isEndOfSession: Bool {
        (self as? any SessionEnding)?.endsSession ?? originalNetworkError?.isRefusalOfRefresh ?? false
    }
}
