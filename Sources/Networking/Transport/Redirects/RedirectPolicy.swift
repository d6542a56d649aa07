/// Which redirects are followed, [RFC 9110 section 15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4).
public enum RedirectPolicy: Hashable, Sendable {
    /// Up to so many, one after another.
    case follow(limit: Int)
    /// None: the 3xx is the answer.
    case ignore

    /// Up to 20.
    public static let standard = RedirectPolicy.follow(limit: 20)
}
