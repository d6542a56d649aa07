import Foundation
import Networking
import NetworkingTesting

/// The server of the tour. It has routes for login, token refresh and contacts, and one flaky and one slow route.
final class Backend: @unchecked Sendable {  // because of the lock around every variable
    let server: LoopbackServer
    private let lock = NSLock()
    private var number = 0
    private var names: [Int: String] = [:]
    private var isFlaky = false
    private var refused = 0
    private var refreshed = 0
    private var refreshPause = Duration.milliseconds(20)

    init() throws {
        server = try LoopbackServer()
        server.route(.post, "/login") { [self] request in
            let login: [String: String] = try await request.json()
            guard login["password"] == "correct horse" else { return LoopbackResponse(.forbidden) }
            return .json(nextGrant())
        }
        server.route(.post, "/token") { [self] request in
            let body: [String: String] = try await request.json()
            let pause = lock.withLock {
                refreshed += 1
                return refreshPause
            }
            try await Task.sleep(for: pause)
            guard let grant = refresh(body["refreshToken"]) else { return LoopbackResponse(.unauthorized) }
            return .json(grant)
        }
        authorized(.get, "/contacts/:id") { [self] request in
            guard let id = Int(request.parameters["id"] ?? ""), (0..<10_000).contains(id) else {
                return LoopbackResponse(.notFound)
            }
            return .json(Contact(id: id, name: lock.withLock { names[id] } ?? "Contact \(id)"))
        }
        authorized(.patch, "/contacts/:id") { [self] request in
            let change: [String: String] = try await request.json()
            let id = Int(request.parameters["id"] ?? "") ?? 0
            lock.withLock { names[id] = change["name"] }
            return LoopbackResponse(.noContent)
        }
        authorized(.get, "/export") { _ in LoopbackResponse(.paymentRequired) }
        authorized(.get, "/flaky") { [self] _ in
            let fails = lock.withLock {
                isFlaky.toggle()
                return isFlaky
            }
            return fails ? LoopbackResponse(.serviceUnavailable) : .text("available again")
        }
        authorized(.get, "/slow") { _ in
            try await Task.sleep(for: .seconds(2))
            return .text("too late")
        }
    }

    var counts: (refused: Int, refreshed: Int) { lock.withLock { (refused, refreshed) } }

    /// Invalidates all access tokens that were issued so far. Each later refresh takes `refreshPause`.
    func expireToken(refreshPause: Duration = .milliseconds(20)) {
        lock.withLock {
            number += 1
            self.refreshPause = refreshPause
        }
    }

    private func nextGrant() -> Grant {
        lock.withLock {
            number += 1
            return Grant(token: "token-\(number)", refreshToken: "refresh-\(number)")
        }
    }

    /// Returns the next token. Returns nil if the refresh token is too old.
    private func refresh(_ token: String?) -> Grant? {
        let isKnown = lock.withLock {
            token == "refresh-\(number)" || token == "refresh-\(number - 1)"
        }
        return isKnown ? nextGrant() : nil
    }

    private func authorized(_ method: HTTPMethod, _ path: String, _ handler: @escaping LoopbackServer.Handler) {
        server.route(method, path) { [self] request in
            let isValid = lock.withLock {
                let isValid = request.headers.authorization == .bearer("token-\(number)")
                if !isValid { refused += 1 }
                return isValid
            }
            guard isValid else { return LoopbackResponse(.unauthorized, headers: [.wwwAuthenticate: "Bearer"]) }
            return try await handler(request)
        }
    }
}
