/// The token that a request was dressed in, as far as anybody but its session may know.
public protocol CarriedToken: AnyObject, Sendable {
    /// Which one of its session's tokens it is, counted from 0.
    var generation: Int { get }
}

/// The token that a request carries; nil where it carries none of a session's.
public enum CarriedTokenOption: RequestOption {
    /// None.
    public static var defaultOption: (any CarriedToken)? { nil }
    /// True: it stays behind with the token.
    public static var isSensitive: Bool { true }
}
