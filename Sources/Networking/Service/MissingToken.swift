import Foundation

// Why a request that was refused with 401 carried no token.
extension NetworkError {
    /// A 401 for a request without a token says why it carried none.
    static func explained(_ error: any Error, _ response: HTTPResponse) -> any Error {
        guard var known = error as? NetworkError, known.kind == .unacceptableStatus, known.reason == nil,
            response.status == .unauthorized, let cause = response.request.whyWithoutToken
        else { return error }
        known.reason = "\(response.status), sent without a token: \(cause)"
        return known
    }
}

extension HTTPRequest {
    /// Why it carries no credentials; nil if it does.
    fileprivate var whyWithoutToken: String? {
        guard !allHeaders.contains(where: \.isSensitive), url.user == nil,
            let resolved = self[option: ResolvedEndpoint.self]
        else { return nil }
        if resolved.authorizationType == .none { return "the authorizationType of endpoint and service is none" }
        guard self[option: CallSession.self] != nil else { return "the service has no session (authorizedBy:)" }
        // The session's adapter marks the request also if it has no token.
        guard self[option: CarriedTokenOption.self] == nil else { return "the session has no token" }
        if admission == .refresh { return "the requests of a token refresh carry none" }
        return isForeign ? "it went to another origin than the environment's" : nil
    }
}
