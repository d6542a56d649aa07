/// Tells a refresh that the server refused from one that did not reach it.
enum RefreshRejection {
    static func isOne(_ error: any Error) -> Bool {
        switch error {
        case is AccessTokenRejected: true
        case let error as GeneralRequestError: error == .noAuth || error == .forbidden
        case let error as NetworkError:
            error.kind == .unacceptableStatus && error.status.map(statuses.contains) ?? false
        default: false
        }
    }

    private static let statuses: Set<HTTPStatus> = [.badRequest, .unauthorized, .forbidden]
}
