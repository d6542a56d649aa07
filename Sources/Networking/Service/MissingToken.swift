import Foundation

// Explains why a request that was refused with 401 carried no token.
extension NetworkError {
    /// Returns the error of a 401 with a reason that says why the request carried no token. Returns any other error
    /// unchanged.
    static func explained(_ error: any Error, _ response: HTTPResponse) -> any Error {
        guard var known = error as? NetworkError, known.kind == .unacceptableStatus, known.reason == nil,
            response.status == .unauthorized, let cause = response.request.whyWithoutToken
        else { return error }
        known.reason = "\(response.status), sent without a token: \(cause)"
        return known
    }
}

extension HTTPRequest {
    /// The reason why the request carries no token; nil if it carries credentials or if the reason is unknown.
    fileprivate var whyWithoutToken: String? {
        guard !allHeaders.contains(where: \.isSensitive), url.user == nil,
            let resolved = parts[ResolvedEndpoint.self]
        else { return nil }
        if resolved.authorizationType == .none {
            return "the authorizationType of the endpoint and the service is none"
        }
        guard let ticket = parts.session else { return "the service has no session (authorizedBy:)" }
        // The session's adapter notes this even if the session has no token.
        guard ticket.token == nil else { return "the session has no token" }
        if admission == .refresh { return "the requests of a token refresh carry no token" }
        return isForeign ? "the request went to another origin than that of the environment" : nil
    }
}
