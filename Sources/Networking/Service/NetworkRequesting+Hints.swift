/// Calls that cannot be made, so that the compiler says what to write in their place.
extension NetworkRequesting {
    /// A type that cannot be read.
    @available(
        *, unavailable,
        message: "the answer's type has to be Decodable and Sendable; for [String: Any] say `as: .jsonObject`"
    )
    @_disfavoredOverload
    public func request<Value>(
        _ endpoint: some Endpoint, with settings: RequestSettings = RequestSettings()
    ) async throws -> Value {
        throw NetworkError(.invalidRequest, reason: "\(Value.self) is not Decodable and Sendable")
    }
}
