/// A check of a response before a converter reads its body.
///
/// The validators of a call run in order. The first validator that rejects the response ends the attempt with its
/// error. An empty list (`[]`) accepts every status. Default: `.standard`, which accepts a status of 200 to 299 and a
/// media type that your `Accept` names. If `Accept` names a JSON type, every JSON type is accepted. A response without
/// a `Content-Type` is accepted, too. To require a certain type, add `.mediaType(…)`.
///
/// If `.status` or `.standard` rejects a status, the body is needed only for the text of the error. Reading it stops
/// after 1 MiB, after 5 s without a byte, or 30 s after the head. If reading it fails, the call still ends with the
/// error for the status. If the body is cut off, no other validator is called. With an empty list, every body is read
/// completely.
///
/// ```swift
/// let hasVersion = ResponseValidator { response in
///     response.headers.contains("X-Version") ? .valid : .invalid("the response has no X-Version")
/// }
/// ```
public struct ResponseValidator: Sendable {
    /// The result of a validator.
    public enum Verdict: Sendable {
        /// The response is accepted.
        case valid
        /// The response is rejected for this reason; the call ends with ``NetworkError/Kind/invalidResponse``.
        case invalid(String)
        /// The response is rejected; the call ends with this error.
        case failure(any Error)
    }

    private let judge: @Sendable (HTTPResponse) throws -> Verdict
    /// The statuses that the validator accepts; nil for a validator that checks something else.
    fileprivate let accepted: AcceptedStatuses?

    /// Creates a validator from a closure. An error that the closure throws is a ``Verdict/failure(_:)``.
    public init(_ judge: @escaping @Sendable (HTTPResponse) throws -> Verdict) {
        self.judge = judge
        accepted = nil
    }

    /// - Parameter reason: Returns the reason why a response is rejected; nil if its status is a sufficient reason.
    private init(
        accepting accepted: AcceptedStatuses, _ reason: @escaping @Sendable (HTTPResponse) -> String?
    ) {
        self.accepted = accepted
        judge = { response in
            guard !accepted.contains(response.status) else { return .valid }
            return .failure(NetworkError(.unacceptableStatus, reason: reason(response)))
        }
    }

    private init(accepting accepted: AcceptedStatuses) {
        self.init(accepting: accepted) { response in
            // An error status needs no explanation.
            response.status.isSuccessful ? "\(response.status), expected \(accepted)" : nil
        }
    }

    /// Returns a validator that accepts the statuses of a set. For a response with another status, the closure returns
    /// the reason for the rejection, or nil.
    static func status(
        _ statuses: Set<HTTPStatus>, _ reason: @escaping @Sendable (HTTPResponse) -> String?
    ) -> ResponseValidator {
        ResponseValidator(accepting: .set(statuses), reason)
    }

    /// - Throws: The error with which the response is rejected.
    func validate(_ response: HTTPResponse) throws {
        switch try judge(response) {
        case .valid: return
        case .invalid(let reason): throw NetworkError(.invalidResponse, reason: reason)
        case .failure(let error): throw error
        }
    }
}

extension ResponseValidator {
    /// Returns a validator that accepts the statuses of a range; others end the call with
    /// ``NetworkError/Kind/unacceptableStatus``.
    public static func status(_ codes: Range<Int>) -> ResponseValidator {
        ResponseValidator(accepting: .range(codes))
    }

    /// Returns a validator that accepts the statuses of a set; others end the call with
    /// ``NetworkError/Kind/unacceptableStatus``.
    public static func status(_ statuses: Set<HTTPStatus>) -> ResponseValidator {
        ResponseValidator(accepting: .set(statuses))
    }

    /// Returns a validator that accepts responses whose header fields satisfy a condition:
    /// `.headers { $0["X-Version"] == "2" }`. Other responses end the call with ``NetworkError/Kind/invalidResponse``.
    public static func headers(_ accepts: @escaping @Sendable (HTTPHeaders) -> Bool) -> ResponseValidator {
        ResponseValidator { accepts($0.headers) ? .valid : .invalid("the header fields are not the expected ones") }
    }

    /// Returns a validator that accepts the given media types, which may be ranges such as `image/*`, and responses
    /// without content. Other types end the call with ``NetworkError/Kind/unacceptableMediaType``.
    public static func mediaType(_ types: MediaType...) -> ResponseValidator {
        ResponseValidator { $0.verdict(onTypes: types) }
    }

    /// A validator that accepts the media types that the request's `Accept` names. A server may ignore `Accept` (RFC
    /// 9110 section 12.5.1). Therefore, if `Accept` names a JSON type, every JSON type is accepted. A response without
    /// a type is accepted, too. Every type is accepted if the request has no `Accept`, or if only the converter has set
    /// this field.
    static let acceptedMediaType = ResponseValidator { response in
        let headers = response.request.headers
        guard headers.contains(where: { $0.name == .accept && !$0.isFromConverter }) else { return .valid }
        let types = headers.accept
        guard !types.isEmpty, let type = response.headers.contentType else { return .valid }
        return type.isJSON && types.contains(where: \.isJSON) ? .valid : response.verdict(onTypes: types)
    }
}

extension [ResponseValidator] {
    /// The default validators: a status of 200 to 299, and a media type that the request's `Accept` names, if there is
    /// an `Accept`.
    public static let standard: [ResponseValidator] = [.status(200..<300), .acceptedMediaType]
}

extension [ResponseValidator] {
    /// The statuses that the validators accept: one set for each validator that checks the status.
    var accepted: [AcceptedStatuses] { compactMap(\.accepted) }

    /// Whether a validator rejects every response with this status, regardless of the body.
    func reject(_ status: HTTPStatus) -> Bool {
        for index in indices { if let accepted = self[index].accepted, !accepted.contains(status) { return true } }
        return false
    }
}

extension HTTPResponse {
    /// Whether the response has no content whose type can be checked. For a stream, the method and the head decide.
    private var hasNoContent: Bool {
        if case .data(let data) = content { return data.isEmpty }
        return [.noContent, .resetContent, .notModified].contains(status) || request.method == .head
            || headers.contentLength == 0
    }

    fileprivate func verdict(onTypes types: [MediaType]) -> ResponseValidator.Verdict {
        if hasNoContent { return .valid }
        // `*/*` also accepts a response without a media type (RFC 9110 section 8.3).
        if types.contains(where: { $0.withoutParameters.description == "*/*" }) { return .valid }
        guard let type = headers.contentType else {
            return .failure(
                NetworkError(
                    .unacceptableMediaType, reason: "the response has no Content-Type, or its Content-Type is not valid"
                ))
        }
        guard types.contains(where: { $0.accepts(type) }) else {
            let wanted = types.map(\.description).joined(separator: ", ")
            return .failure(
                NetworkError(
                    .unacceptableMediaType, reason: "Content-Type: expected \(wanted), found \(type.withoutParameters)"
                ))
        }
        return .valid
    }
}

extension HTTPResponse {
    /// Validates the response: first checks whether the server refuses the token, then runs the validators in order. If
    /// the body is cut off, the call has already rejected the status, and no validator runs.
    ///
    /// - Throws: ``NetworkError``, or the error that a validator throws.
    func validated(by validators: [ResponseValidator]) throws {
        try checkRefusal()
        guard cutOff == nil else { throw NetworkError(.unacceptableStatus) }
        for validator in validators { try validator.validate(self) }
    }
}
