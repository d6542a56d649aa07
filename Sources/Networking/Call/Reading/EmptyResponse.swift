/// A response whose body is not read: any body, also an empty one, is accepted. For typed endpoints without a
/// value; a call whose result is not wanted needs none.
public struct EmptyResponse: Decodable, Hashable, Sendable {
    /// Makes a response.
    init() {}

    /// Reads anything.
    public init(from decoder: any Decoder) {}
}
