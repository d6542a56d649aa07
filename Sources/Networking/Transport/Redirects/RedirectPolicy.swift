/// The redirects that are followed ([RFC 9110 section 15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4)).
public enum RedirectPolicy: Hashable, Sendable {
    /// Follows at most `limit` redirects in a row.
    case follow(limit: Int)
    /// Follows no redirects: the 3xx response is the response of the call.
    case ignore

    /// Follows at most 20 redirects in a row.
    public static let standard = RedirectPolicy.follow(limit: 20)
}
