/// Tells a refresh that the server refused from one that did not reach it.
enum RefreshRejection {
    static func isOne(_ error: any Error) -> Bool {
        if error is AccessTokenRejected { return true }
        if let general = error as? GeneralRequestError { return [.noAuth, .forbidden].contains(general) }
        guard let failure = error as? NetworkError else { return false }
        return failure.isRefusal
    }
}

extension NetworkError {
    fileprivate var isRefusal: Bool {
        guard kind == .unacceptableStatus, let status else { return false }
        return status == .badRequest || status == .unauthorized || status == .forbidden
    }
}
