/// The authorization of a call: the scheme with which its token is sent.
public enum AuthorizationType: Hashable, Sendable {
    /// `Authorization: Basic …`.
    case basic
    /// `Authorization: Bearer …`.
    case bearer
    /// `Authorization: <scheme> …`, with a custom scheme.
    case custom(String)
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
        case .none, .inherited: ""
        }
    }
}
