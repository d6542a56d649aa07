/// A response whose body is not read: any body, including an empty one, is accepted. Use it as the result type of a
/// typed endpoint without a value. A call whose result is not used does not need this type.
public struct EmptyResponse: Decodable, Hashable, Sendable {
    /// Creates a response.
    init() {}

    /// Accepts any body without reading it.
    public init(from decoder: any Decoder) {}
}
