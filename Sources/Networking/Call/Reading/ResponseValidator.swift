/// Judges a response before it is read.
///
/// The validators of a call run in order; the first that finds a fault ends the attempt with it. None at all (`[]`)
/// accepts every status. The default is `.standard`: 200 to 299, and a media type that your `Accept`
/// names.
///
/// ```swift
/// let hasVersion = ResponseValidator { response in
///     response.headers.contains("X-Version") ? .valid : .invalid("the answer has no X-Version")
/// }
/// ```
public struct ResponseValidator: Sendable {
    /// What a validator says.
    public enum Verdict: Sendable {
        /// Nothing is wrong.
        case valid
        /// Something is, for this reason; the call ends with ``NetworkError/Kind/invalidResponse``.
        case invalid(String)
        /// Something is; the call ends with this error.
        case failure(any Error)
    }

    private let judge: @Sendable (HTTPResponse) throws -> Verdict

    /// Makes a validator of a closure. An error it throws is a ``Verdict/failure(_:)``.
    public init(_ judge: @escaping @Sendable (HTTPResponse) throws -> Verdict) {
        self.judge = judge
    }

    /// - Throws: The fault, as an error.
    func validate(_ response: HTTPResponse) throws {
        switch try judge(response) {
        case .valid: return
        case .invalid(let reason): throw NetworkError(.invalidResponse, reason: reason)
        case .failure(let error): throw error
        }
    }
}

extension ResponseValidator {
    /// Accepts the statuses of a range; others end the call with ``NetworkError/Kind/unacceptableStatus``.
    public static func status(_ codes: Range<Int>) -> ResponseValidator {
        status { codes.contains($0.code) }
    }

    /// Accepts the statuses of a set; others end the call with ``NetworkError/Kind/unacceptableStatus``.
    public static func status(_ statuses: Set<HTTPStatus>) -> ResponseValidator {
        status { statuses.contains($0) }
    }

    /// Accepts responses that have these fields with these values, whatever else they have.
    public static func headers(containing fields: HTTPHeaders) -> ResponseValidator {
        ResponseValidator { response in
            let lacking = fields.first { !response.headers.values(for: $0.name).contains($0.value) }
            return lacking.map { .invalid("the answer's \($0.name) is not what it should be") } ?? .valid
        }
    }

    /// Accepts responses that have exactly these fields with these values.
    public static func headers(matching fields: HTTPHeaders) -> ResponseValidator {
        ResponseValidator { response in
            let differing = Set(response.headers).symmetricDifference(Set(fields)).map(\.name.rawValue).sorted().first
            return differing.map { .invalid("the answer's fields are not those wanted: \($0)") } ?? .valid
        }
    }

    /// Accepts responses that have none of these fields with these values.
    public static func headers(lacking fields: HTTPHeaders) -> ResponseValidator {
        ResponseValidator { response in
            let present = fields.first { response.headers.values(for: $0.name).contains($0.value) }
            return present.map { .invalid("the answer's \($0.name) is what it should not be") } ?? .valid
        }
    }

    /// Accepts responses that have fields of all of these names.
    public static func headers(named names: HTTPHeader.Name...) -> ResponseValidator {
        ResponseValidator { response in
            let lacking = names.first { !response.headers.contains($0) }
            return lacking.map { .invalid("the answer has no \($0)") } ?? .valid
        }
    }

    private static func status(_ accepts: @escaping @Sendable (HTTPStatus) -> Bool) -> ResponseValidator {
        ResponseValidator { response in
            accepts(response.status) ? .valid : .failure(NetworkError(.unacceptableStatus))
        }
    }

    /// Accepts the media types named, which may be ranges such as `image/*`; a response without content passes. Others
    /// end the call with ``NetworkError/Kind/unacceptableMediaType``.
    public static func mediaType(_ types: MediaType...) -> ResponseValidator {
        ResponseValidator { $0.verdict(onTypes: types) }
    }

    /// Accepts the media types that the request's `Accept` names, where somebody set one; otherwise any.
    public static let acceptedMediaType = ResponseValidator { response in
        let headers = response.request.headers
        guard headers[.accept] != response.request[option: DerivedAccept.self] else { return .valid }
        let types = headers.accept
        return types.isEmpty ? .valid : response.verdict(onTypes: types)
    }
}

extension [ResponseValidator] {
    /// A status of 200 to 299, and a media type that the request's `Accept` names where it has one.
    public static let standard: [ResponseValidator] = [.status(200..<300), .acceptedMediaType]
}

extension HTTPResponse {
    /// Whether there is nothing to judge, also where the body would still be pulled.
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
            return .failure(NetworkError(.unacceptableMediaType, reason: "the answer has no readable Content-Type"))
        }
        guard types.contains(where: { $0.accepts(type) }) else {
            let wanted = types.map(\.description).joined(separator: ", ")
            return .failure(
                NetworkError(.unacceptableMediaType, reason: "the answer is \(type.withoutParameters), not \(wanted)"))
        }
        return .valid
    }
}

extension HTTPResponse {
    /// Judges the response: first whether it refuses the token, then by the validators in order.
    ///
    /// - Throws: ``NetworkError`` or what a validator throws.
    func validated(by validators: [ResponseValidator]) throws {
        guard request[option: CarriedTokenOption.self]?.refusedStatuses.contains(status) != true else {
            throw NetworkError(.unacceptableStatus)
        }
        for validator in validators { try validator.validate(self) }
    }
}
