/// The statuses that fail a request before any validator is asked, even where there is none.
///
/// An adapter that puts credentials on a request sets it, so that an answer that refuses them is never mistaken for a result.
public enum RefusedStatuses: RequestOption {
    /// No status.
    public static let defaultOption: Set<HTTPStatus> = []
}

extension HTTPResponse {
    /// Judges the response: refused statuses first, then the validators in order.
    ///
    /// - Throws: ``NetworkError`` or what a validator throws.
    func validated(by validators: [ResponseValidator]) throws {
        guard !request[option: RefusedStatuses.self].contains(status) else {
            throw NetworkError(.unacceptableStatus)
        }
        for validator in validators { try validator.validate(self) }
    }
}
