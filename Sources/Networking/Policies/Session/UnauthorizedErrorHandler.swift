import Foundation

/// An error handler for refused tokens. It starts a refresh of the token, or waits for the refresh in progress, and
/// requests a retry.
///
/// If the refused token is no longer the current token, the request is sent again without a refresh. A call is sent
/// again at most once after a refresh, and at most once because there is a newer token. If there is no new token, or if
/// the refresh fails, the handler passes on the error of the response. Its underlying error is then the reason why
/// there is no new token. If no handler before this one can decide (see ``ErrorMapper``), the refresh begins as soon as
/// the refusal is known; otherwise, it begins when the failure reaches this handler. If a handler before this one ends
/// or retries the call, there is no refresh.
///
/// The handler handles requests that carry a token of the supervisor and were not redirected to another origin. It does
/// not need ``TokenRequestAdapter``: if the app adds the token itself, the handler compares the `Authorization` field
/// with the current and the previous token. The handler also makes authorized requests wait while the token is read or
/// refreshed. If the token is about to expire, the handler refreshes it before a request is sent.
public struct UnauthorizedErrorHandler: ErrorHandler, AccessTokenPart {
    let supervisor: AccessTokenSupervisor

    /// Creates a handler. The property `supervisor.handler` returns the same handler.
    public init(accessTokenSupervisor: AccessTokenSupervisor) {
        supervisor = accessTokenSupervisor
    }

    /// Requests a retry if a token is available for the retry. Otherwise passes the failure on.
    public func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        guard let response = failure.response, response.isRefusal,
            let (call, sent) = response.request.parts.session?.sending(of: ObjectIdentifier(supervisor))
        else { return .next(failure.error) }
        // If a redirect changed a POST to GET, the server has processed the POST. If the token is then refused, the
        // POST is sent again only if it is safe to repeat.
        let hasChanged = failure.adaptedRequest.map { $0.method != response.request.method } ?? false
        guard !hasChanged || failure.isSafeToRepeat else { return .next(failure.error) }
        call.refreshError = nil
        do {
            let reason = try await supervisor.waitToRepeat(call, sent, status: response.status.code)
            return reason.map { .retry(because: $0) } ?? .next(failure.error)
        } catch let interruption as Interruption {
            return .next(failure.networkError?.because(of: interruption) ?? failure.error)
        } catch let reason as TokenUnavailable {
            return .next(failure.error, because: "\(reason)")
        } catch is SessionEnded {
            return .next(failure.error, because: "the session in which the call began has ended")
        } catch {
            call.refreshError = error.isEndOfSession ? nil : error
            return next(failure, because: error)
        }
    }

    /// Passes the failure on with the reason why there is no new token. The reason becomes the underlying error. The
    /// report also contains the reason, even if a later handler replaces the error.
    private func next(_ failure: RequestFailure, because cause: any Error) -> ErrorHandlingResult {
        .next(
            failure.networkError?.because(of: cause) ?? failure.error,
            because: cause is AccessToken.Rejected
                ? AccessToken.Rejected.words
                : "the token could not be refreshed: \(UnauthorizedErrorHandler.text(of: cause))")
    }

    /// Returns the text of an error. The text of a ``GeneralRequestError`` names the response that caused the error.
    /// The text of any other error of an app is only the type of the error.
    private static func text(of cause: any Error) -> String {
        (cause as? GeneralRequestError).map { "\($0)" } ?? "\(NetworkError.wrapping(cause))"
    }
}

extension NetworkError {
    /// Returns the error with the error of the refresh as its underlying error.
    fileprivate func because(of refreshError: any Error) -> NetworkError {
        var error = self
        error.underlying = error.underlying ?? refreshError
        return error
    }
}

// Explains why a request was refused with 401 if a new token would not help.
extension NetworkError {
    /// Returns the error of a 401 with a reason that says why the request carried no token, or that the scope of its
    /// token is not sufficient. Returns any other error unchanged.
    static func explained(_ error: any Error, _ response: HTTPResponse) -> any Error {
        guard var known = error as? NetworkError, known.kind == .unacceptableStatus, known.reason == nil,
            response.status == .unauthorized
        else { return error }
        if response.headers.challenges.contains(where: { $0.error == "insufficient_scope" }) {
            known.reason = "\(response.status): the scope of the token is not sufficient"
            return known
        }
        if let host = response.hostLeftWithCredentials {
            known.reason =
                "\(response.status) after a redirect from \(host) to another origin, which does not receive the secret fields for the first origin"
            return known
        }
        guard let cause = response.request.whyWithoutToken else { return error }
        known.reason = "\(response.status), sent without a token: \(cause)"
        return known
    }
}

extension HTTPResponse {
    /// The host from which the first redirect to another origin came. Nil if the request after the redirects carries
    /// credentials, or if there was no such redirect.
    fileprivate var hostLeftWithCredentials: String? {
        guard !request.allHeaders.contains(where: \.isSensitive), request.url.user == nil else { return nil }
        let left = redirects.first { $0.request.origin != request.origin }
        return left.flatMap { $0.request.url.host }
    }
}

extension HTTPRequest {
    /// The reason why the request carries no token; nil if it carries credentials or if the reason is unknown.
    fileprivate var whyWithoutToken: String? {
        guard !allHeaders.contains(where: \.isSensitive), url.user == nil,
            let resolved = parts[ResolvedEndpoint.self]
        else { return nil }
        if resolved.authorizationType == .none {
            // The endpoint that refreshes a token needs no token.
            return admission == .refresh ? nil : "the authorizationType of the endpoint and the service is none"
        }
        guard let ticket = parts.session else { return "the service has no session (authorizedBy:)" }
        // The session's adapter sets `ticket.token` even if the session has no token.
        guard ticket.token == nil else { return "the session has no token" }
        if admission == .refresh { return "the requests of a token refresh carry no token" }
        if isForeign { return "the request went to another origin than that of the environment" }
        return resolved.authorizationType.unwrapped.isOptional ? "nobody is logged in" : nil
    }
}
