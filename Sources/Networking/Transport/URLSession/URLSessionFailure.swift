import Foundation

/// An error of a session, and its translation into a ``NetworkError``.
///
/// Foundation on Linux has one code, -1, for a truncated body, a malformed chunk, a malformed header and every TLS
/// failure. The progress of the exchange and libcurl's message distinguish these failures.
struct URLSessionFailure {
    let error: any Error
    let isSecure: Bool
    let hasHead: Bool
    /// Whether fewer bytes of the body arrived than `Content-Length` states.
    let isCutOff: Bool
    /// Whether the response is a redirect.
    var isRedirect = false

    var networkError: NetworkError {
        NetworkError(kind, reason: text.map { "\(kind.explanation) (\($0))" }, underlying: error)
    }

    /// The system's description in one line. The rest of `userInfo` is not used, because it contains the URL with its
    /// query.
    private var text: String? {
        let text = (error as NSError).userInfo[NSLocalizedDescriptionKey] as? String
        return text.flatMap { $0.isEmpty || $0.contains("://") ? nil : $0 }
    }

    private var kind: NetworkError.Kind {
        guard let error = error as? URLError else { return kindOfSystemError }
        if isRestricted { return .networkRestricted }
        switch error.code {
        case .unknown: return kindOfUnknown
        // Apple's systems use this code for a closed and for a reset connection. The stream's own error distinguishes
        // them.
        case .networkConnectionLost: return hasHead && isCutOff && !wasReset ? .truncatedBody : lost
        case .badServerResponse where isEmptyReply: return .connectionLostBeforeHead
        // Apple's systems read the target of a redirect, although the delegate refuses to follow the redirect.
        case .redirectToNonExistentLocation: return .redirectRefused
        case .unsupportedURL where isRedirect: return .redirectRefused
        case .requestBodyStreamExhausted: return .bodyUnreadable
        // The URL was checked before. These codes therefore mean that the response is not HTTP.
        case .unsupportedURL, .badURL: return .malformedResponse
        default: return NetworkError.Kind(error.code)
        }
    }

    private var lost: NetworkError.Kind { hasHead ? .connectionLostAfterHead : .connectionLostBeforeHead }

    /// Whether the server has reset the connection. On Apple's systems, undocumented keys contain the error of the
    /// stream; domain 1 is POSIX. On Linux, libcurl's message contains the word "reset".
    private var wasReset: Bool {
        let info = (error as NSError).userInfo
        let isPOSIX = info["_kCFStreamErrorDomainKey"] as? Int == 1
        return isPOSIX && info["_kCFStreamErrorCodeKey"] as? Int == Int(POSIXErrorCode.ECONNRESET.rawValue)
            || text?.contains("reset") == true
    }

    /// The kind of an error of the system. Since iOS 12, a session ends with a POSIX error if its connection was closed
    /// while the app was suspended.
    private var kindOfSystemError: NetworkError.Kind {
        let error = error as NSError
        switch error.domain {
        case NSPOSIXErrorDomain: return POSIXErrorCode(rawValue: Int32(clamping: error.code)).map(kind) ?? .unknown
        case "kCFErrorDomainCFNetwork":
            return URLSessionFailure.proxyErrors.contains(error.code) ? .cannotConnect : .unknown
        default: return .unknown
        }
    }

    /// The proxy errors of CFNetwork: the errors of an HTTP proxy, and the errors in a proxy's response to CONNECT.
    private static let proxyErrors = [306, 307, 308, 309, 310, 311]

    private func kind(_ code: POSIXErrorCode) -> NetworkError.Kind {
        switch code {
        case .EPIPE, .ECONNABORTED, .ECONNRESET, .ENOTCONN, .EPROTO: lost
        case .ETIMEDOUT: .idleTimedOut
        case .ENETDOWN, .ENETUNREACH: .notConnected
        case .EHOSTUNREACH, .ECONNREFUSED, .EHOSTDOWN: .cannotConnect
        default: .unknown
        }
    }

    private var isEmptyReply: Bool { text?.contains("Empty reply") ?? false }

    private var kindOfUnknown: NetworkError.Kind {
        let text = text?.lowercased() ?? ""
        // For a chunked body, only the text distinguishes an early end from a malformed chunk.
        if hasHead {
            if text.contains("unencoding") { return .undecodableContent }
            return isCutOff || text.contains("closed") || text.contains("bytes missing")
                ? .truncatedBody : .malformedResponse
        }
        guard isSecure else { return text.contains("closed") ? .connectionLostBeforeHead : .malformedResponse }
        return text.contains("certificate") ? .tlsUntrusted : .tlsFailed
    }
}
