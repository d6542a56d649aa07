// The Swift blocks of MigratingFromAlamofire.md, unchanged. `DocumentationTests` compares them with the article.

import Foundation
import Networking

private enum AlamofireGuide {
    struct User: Codable, Sendable {
        let id: Int
        let name: String
    }

    static func simple(_ url: URL) async throws {
        // snippet.simple
        let api = NetworkService(environment: NetworkEnvironment(baseURL: url))
        let user: User = try await api.request(.get("users/7"))
        try await api.request(.post("users").body(.json(user)))
        let found: [User] = try await api.request(
            .get("users").query(["q": "ada"]).header("X-App", "1"))
        let text = try await api.request(.get("text"), as: .string)
        // snippet.end
        _ = (found, text)
    }
}
