import Foundation

/// Maps failures to the errors that an app shows: the endpoint's own first, then ``GeneralRequestError``.
///
/// A status is asked for before a code: `endpoint.error(for: ProblemDetails)` if the response has problem details,
/// then `endpoint.error(for: HTTPStatus)`, then the server error of a ``TypedEndpoint`` (``ServerFailure``), then
/// 401, 403 and 404; where no response came or its status was acceptable, `endpoint.error(for: URLError.Code)`, then
/// no connection, timeouts and cancellation. What has no mapping is passed on unchanged, and so is an error that a
/// handler before has mapped already.
public struct GeneralErrorHandler: ErrorHandler, ErrorMapper {
    /// Makes a handler.
    public init() {}

    /// Maps the failure's error, and passes on.
    public func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        .next(mapped(failure) ?? failure.error)
    }

    func mapped(_ failure: RequestFailure) -> (any Error)? {
        guard let error = failure.error as? NetworkError else {
            guard failure.error is CancellationError else { return nil }
            let cause = NetworkError(.cancelled, underlying: failure.error)
            return GeneralRequestError(.cancelled, cause: cause.completed(request: failure.request, response: nil))
        }
        if error.kind == .unacceptableStatus, let status = error.status ?? failure.status {
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
