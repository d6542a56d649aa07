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
        guard let error = error as? URLError else { return .unknown }
        if isRestricted { return .networkRestricted }
        switch error.code {
        case .unknown: return kindOfUnknown
        case .networkConnectionLost: return hasHead ? .connectionLostAfterHead : .connectionLostBeforeHead
        case .badServerResponse where isEmptyReply: return .connectionLostBeforeHead
        // The URL was checked before. These codes therefore mean that the response is not HTTP.
        case .unsupportedURL, .badURL: return .malformedResponse
        default: return NetworkError.Kind(error.code)
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
