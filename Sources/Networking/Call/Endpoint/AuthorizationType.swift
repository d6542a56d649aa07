/// The authorization of a call: the scheme with which its token is sent.
public enum AuthorizationType: Hashable, Sendable {
    /// `Authorization: Basic …`.
    case basic
    /// `Authorization: Bearer …`.
    case bearer
    /// `Authorization: <scheme> …`, with a custom scheme.
    case custom(String)
    /// If there is a token, it is sent with the scheme of the associated value. If nobody is logged in, or if the
    /// session has ended, the call is sent without a token; if the server refuses such a call, no session is affected.
    ///
    /// The call waits for the token while the store is read or a refresh runs. If the server refuses the token of the
    /// call, the call is not repeated without a token.
    indirect case optional(AuthorizationType)
    /// No authorization: the call carries no token, and an unauthorized status triggers no refresh.
    case none
    /// The authorization in the settings of the call or of its service (``RequestSettings/authorizationType``). If
    /// neither is set, the call is not authorized.
    case inherited

    /// The scheme: `Basic`, `Bearer` or the custom scheme; empty for ``none`` and ``inherited``.
    package var scheme: String {
        switch self {
        case .basic: "Basic"
        case .bearer: "Bearer"
        case .custom(let scheme): scheme
        case .optional(let type): type.scheme
        case .none, .inherited: ""
        }
    }

    /// Whether the call carries a token if there is one.
    var asksForToken: Bool {
        switch self {
        case .basic, .bearer, .custom: true
        case .optional(let type): type.asksForToken
        case .none, .inherited: false
        }
    }

    /// Creates the authorization type for a scheme.
    package init(scheme: String) {
        switch scheme {
        case "Basic": self = .basic
        case "Bearer": self = .bearer
        default: self = .custom(scheme)
        }
    }

    /// The authorization type without ``optional(_:)``, and whether ``optional(_:)`` was removed.
    package var unwrapped: (type: AuthorizationType, isOptional: Bool) {
        if case .optional(let type) = self { (type.unwrapped.type, true) } else { (self, false) }
    }
}
