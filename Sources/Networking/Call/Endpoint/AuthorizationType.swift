/// How a call is authorized: the scheme under which its token is sent.
public enum AuthorizationType: Hashable, Sendable {
    /// `Authorization: Basic …`.
    case basic
    /// `Authorization: Bearer …`.
    case bearer
    /// `Authorization:` with a scheme of your own.
    case custom(String)
    /// Not at all: the call carries no token, and an unauthorized status triggers no refresh.
    case none
    /// As the settings of the call or its service say (``RequestSettings/authorizationType``); not at all if they do
    /// not.
    case inherited

    /// The scheme: `Basic`, `Bearer`, the custom one; empty for none and inherited.
    package var scheme: String {
        switch self {
        case .basic: "Basic"
        case .bearer: "Bearer"
        case .custom(let scheme): scheme
        case .none, .inherited: ""
        }
    }
}

extension HTTPHeader {
    /// `Authorization` with a token under a type's scheme.
    static func authorization(_ type: AuthorizationType, _ token: String) -> HTTPHeader {
        .authorization(.custom(scheme: type.scheme, credentials: token))
    }
}
