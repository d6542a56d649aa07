import Foundation

/// An error handler that maps failures to the errors that an app shows: to the errors of the endpoint first, then to
/// ``GeneralRequestError``.
///
/// If the status is not acceptable, the handler uses the first of these errors that is not nil:
/// `endpoint.error(for: ProblemDetails)` if the response contains problem details, `endpoint.error(for: HTTPStatus)`,
/// the server error of a ``TypedEndpoint`` or of the service (``ServerFailure``), and the general errors for 401, 403
/// and 404. If there is no response, or if its status is acceptable, the handler uses
/// `endpoint.error(for: URLError.Code)`, then the general errors for a missing connection, timeouts and cancellation.
/// If the body of a response says that the token is refused, the response counts as a 401, whatever its status is. A
/// call that was not sent because nobody is logged in ends with ``GeneralRequestError/noAuth``. The handler passes an
/// error on unchanged if the error has no mapping, or if an earlier handler has already mapped it.
public struct GeneralErrorHandler: ErrorMapper {
    /// Creates a handler.
    public init() {}

    /// Returns the error of the endpoint, or the general error; nil if there is none.
    public func mapped(_ failure: RequestFailure) -> (any Error)? {
        guard let error = failure.error as? NetworkError else {
            guard failure.error is CancellationError else { return nil }
            let cause = NetworkError(.cancelled, underlying: failure.error)
            return GeneralRequestError(.cancelled, cause: cause.completed(request: failure.request, response: nil))
        }
        if error.isLoggedOut { return GeneralRequestError(.noAuth, cause: error) }
        if error.kind == .unacceptableStatus, var status = error.status ?? failure.status {
            // If only the body says that the token is refused, the status does not show the refusal.
            if failure.response?.isRefusalByBody == true { status = .unauthorized }
            return failure.problem.flatMap { failure.endpoint.error(for: $0) } ?? failure.endpoint.error(for: status)
                ?? failure.serverFailure(error) ?? general(status).map { GeneralRequestError($0, cause: error) }
        }
        return error.kind.urlErrorCode.flatMap { failure.endpoint.error(for: $0) }
            ?? general(error.kind).map { GeneralRequestError($0, cause: error) }
    }

    private func general(_ status: HTTPStatus) -> GeneralRequestError.Code? {
        switch status {
        case .unauthorized: .noAuth
        case .forbidden: .forbidden
        case .notFound: .notFound
        default: nil
        }
    }

    private func general(_ kind: NetworkError.Kind) -> GeneralRequestError.Code? {
        if kind.isTimeout { return .timedOut }
        switch kind {
        case .notConnected, .networkRestricted: return .noInternetConnection
        case .cannotConnect, .cannotResolveHost: return .cannotConnect
        case .cancelled: return .cancelled
        default: return nil
        }
    }
}
