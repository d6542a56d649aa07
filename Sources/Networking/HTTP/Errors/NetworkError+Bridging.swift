public import Foundation

extension NetworkError: CustomNSError {
    /// `Networking.NetworkError`, for whoever sees the error as an `NSError`.
    public static var errorDomain: String { "Networking.NetworkError" }

    /// The status, where one came and is what was wrong; else the code of Foundation's that says the same, such as -1001 for a timeout; else 0.
    public var errorCode: Int {
        if kind == .unacceptableStatus, let status { return status.code }
        return kind.urlErrorCode?.rawValue ?? 0
    }

    /// Description, reason, hint, the URL without query and credentials, and the error beneath.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description, NSLocalizedFailureReasonErrorKey: cause]
        if let recoverySuggestion { info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion }
        if let url = request.flatMap({ URL(string: $0.url.withoutSecrets) }) {
            info[NSURLErrorFailingURLErrorKey] = url
        }
        if let underlying { info[NSUnderlyingErrorKey] = NetworkError.withoutSecrets(underlying) }
        return info
    }

    /// An error of Foundation's tells the whole URL, query and all: of it, domain, code and text are left.
    private static func withoutSecrets(_ error: any Error) -> NSError {
        guard let error = error as? URLError else { return error as NSError }
        return NSError(
            domain: NSURLErrorDomain, code: error.errorCode,
            userInfo: [NSLocalizedDescriptionKey: error.localizedDescription])
    }

    /// The reason alone.
    public var failureReason: String? { cause }

    /// What may help, where something does.
    public var recoverySuggestion: String? {
        if kind == .unacceptableStatus { return status.flatMap { NetworkError.suggestion(for: $0) } }
        return NetworkError.suggestions[kind]
    }

    private static func suggestion(for status: HTTPStatus) -> String? {
        switch status {
        case .unauthorized:
            "Log in again. A call carries a token where its endpoint has an authorizationType and its service a session (authorizedBy:)."
        case .tooManyRequests, .serviceUnavailable: "Try again later."
        case .notFound, .gone: nil
        default: status.isServerError ? "The server failed; trying again may help." : nil
        }
    }

    private static let suggestions: [Kind: String] = [
        .notConnected: "Connect to a network and try again.",
        .networkRestricted: "Allow cellular data, turn Low Data Mode off, or connect to another network.",
        .cannotResolveHost: "Check the host's name and the connection to the network.",
        .cannotConnect: "Check that the server runs, and its host and port.",
        .connectTimedOut: "Check host and port, or give connecting more time (timeouts.connect).",
        .idleTimedOut: "Try again, or give the server more time (timeouts.idle).",
        .deadlineTimedOut: "Give the call more time (timeouts.total).",
        .tlsFailed: "Check that the server speaks https on this port.",
        .undecodableBody:
            "Mend the type, or give the settings a decoder that knows how the server spells; read an optional where the body may be empty.",
        .tlsUntrusted:
            "Check the server's certificate, or the authorities that are trusted.",
        .responseTooLarge:
            "Allow more (maximumResponseSize; for heads and compressed bodies the transport's Limits), or take the body into a file or as a stream.",
        .fileNotWritable:
            "Check that the folder is there and writable, and choose what happens to a file that is there (overwriting).",
        .checksumMismatch: "Download it again.", .circuitOpen: "Try again later.",
        .noToken: "Log in again; the refresh's error is underlying.",
        .invalidRequest: "Nothing was sent: correct the part that is named.",
        .bodyUnreadable: "Check that the body's source exists and can be read.",
        .shutDown: "Make the call with a transport that has not been shut down.",
        .bodyNotEncodable: "Nothing was sent: correct the value that is named.",
    ]
}

extension NetworkError {
    /// The reason alone: `503 Service Unavailable`.
    var cause: String {
        reason ?? (kind == .unacceptableStatus ? response?.status.description : nil) ?? kind.explanation
    }
}
