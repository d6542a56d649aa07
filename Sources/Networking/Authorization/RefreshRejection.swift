/// Tells a refresh that the server refused from one that did not reach it.
enum RefreshRejection {
    static func isOne(_ error: any Error) -> Bool {
        if error is AccessTokenRejected { return true }
        if let error = error as? GeneralRequestError { return error == .noAuth || error == .forbidden }
        guard let error = error as? NetworkError, error.kind == .unacceptableStatus else { return false }
        return error.status.map(statuses.contains) ?? false
    }

    private static let statuses: Set<HTTPStatus> = [.badRequest, .unauthorized, .forbidden]
}
