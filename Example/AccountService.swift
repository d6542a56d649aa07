import Networking

/// The endpoints for login and token refresh. Their requests carry no access token.
enum AccountEndpoint {
    case logIn(name: String, password: String)
    case refresh(String)
}

extension AccountEndpoint: Endpoint {
    var path: EndpointPath {
        switch self {
        case .logIn: "login"
        case .refresh: "token"
        }
    }

    var method: HTTPMethod { .post }

    var body: HTTPBody {
        switch self {
        case .logIn(let name, let password): .json(["name": name, "password": password])
        case .refresh(let token): .json(["refreshToken": token])
        }
    }
}

/// The response of the server to a login and to a refresh.
struct Grant: Codable {
    let token: String
    let refreshToken: String

    var accessToken: AccessToken { AccessToken(token, refreshToken: refreshToken) }
}

final class AccountService: NetworkService, @unchecked Sendable {
    /// Logs in. When the method returns, the session contains the token.
    func logIn(_ name: String, password: String, into session: AccessTokenSupervisor) async throws {
        _ = try await request(
            AccountEndpoint.logIn(name: name, password: password),
            as: .json(Grant.self).storingToken(in: session, \.accessToken))
    }

    /// Requests the next token. The response also contains a new refresh token.
    func refresh(_ old: AccessToken?) async throws -> AccessToken {
        guard let refreshToken = old?.refreshToken else { throw AccessToken.Rejected() }
        let grant: Grant = try await request(AccountEndpoint.refresh(refreshToken))
        return grant.accessToken
    }
}
