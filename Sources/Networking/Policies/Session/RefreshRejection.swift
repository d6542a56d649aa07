/// Tells a refresh that the server refused from one that did not reach it.
enum RefreshRejection {
    static func isRejection(_ error: any Error) -> Bool {
        if error is AccessToken.Rejected { return true }
        if let general = error as? GeneralRequestError { return [.noAuth, .forbidden].contains(general.code) }
        return ((error as? any CausedByNetworkError)?.networkCause ?? error as? NetworkError)?.isRefusal ?? false
    }

    /// The error of a refresh; of its own call, if that is what it threw, the error before the service mapped it to
    /// one of the app's.
    static func cause(of error: any Error, in refresh: RefreshMark) -> any Error {
        guard !(error is NetworkError), let failure = refresh.failure, type(of: failure.error) == type(of: error) else {
            return error
        }
        return failure.cause
    }
}

extension NetworkError {
    fileprivate var isRefusal: Bool {
        guard kind == .unacceptableStatus, let status else { return false }
        return status == .badRequest || status == .unauthorized || status == .forbidden
    }
}
