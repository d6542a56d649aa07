/// A response whose body is not read: any body, including an empty one, is accepted. Use it as the result type of a
/// typed endpoint without a value; a call whose result is not used does not need it.
public struct EmptyResponse: Decodable, Hashable, Sendable {
    /// Creates a response.
    init() {}

    /// Accepts any body without reading it.
    public init(from decoder: any Decoder) {}
}
