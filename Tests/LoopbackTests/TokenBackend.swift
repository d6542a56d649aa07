import Foundation
import Networking
import NetworkingTesting

/// A server that requires a token for its items. It can invalidate the token, and issues the next token on refresh.
final class TokenBackend: @unchecked Sendable {  // because of the lock around every variable
    let server: LoopbackServer
    private let lock = NSLock()
    private var valid = 1
    private var served = 0
    private var refused = 0
    private var refreshed = 0
    private var inFlight = 0
    private var mostInFlight = 0

    /// - Parameter lifetime: The number of successful responses after which the token is invalidated; nil for never.
    init(
        lifetime: Int? = nil, invalidations: Int = .max, pause: Duration = .milliseconds(2),
        refreshPause: Duration = .milliseconds(30)
    ) throws {
        server = try LoopbackServer()
        server.route(.get, "/items/:id") { [self] request in
            enter()
            defer { lock.withLock { inFlight -= 1 } }
            try await Task.sleep(for: pause)
            guard accept(request, lifetime: lifetime, invalidations: invalidations) else {
                return LoopbackResponse(.unauthorized, headers: [.wwwAuthenticate: "Bearer error=\"invalid_token\""])
            }
            return .json(["id": request.parameters["id"]])
        }
        server.route(.post, "/refresh") { [self] _ in
            try await Task.sleep(for: refreshPause)
            return .json(["token": "token-\(renew())"])
        }
    }

    var counts: (served: Int, refused: Int, refreshed: Int, mostInFlight: Int) {
        lock.withLock { (served, refused, refreshed, mostInFlight) }
    }

    func invalidate() {
        lock.withLock { valid += 1 }
    }

    private func enter() {
        lock.withLock {
            inFlight += 1
            mostInFlight = max(mostInFlight, inFlight)
        }
    }

    private func renew() -> Int {
        lock.withLock {
            refreshed += 1
            return valid
        }
    }

    private func accept(_ request: LoopbackRequest, lifetime: Int?, invalidations: Int) -> Bool {
        lock.withLock {
            guard request.headers[.authorization] == "Bearer token-\(valid)" else {
                refused += 1
                return false
            }
            served += 1
            if let lifetime, served % lifetime == 0, served / lifetime <= invalidations { valid += 1 }
            return true
        }
    }
}

enum ItemEndpoint: Endpoint {
    case item(Int)
    case refresh

    var path: EndpointPath {
        switch self {
        case .item(let id): "items/\(id)"
        case .refresh: "refresh"
        }
    }

    var method: HTTPMethod {
        switch self {
        case .item: .get
        case .refresh: .post
        }
    }

    var authorizationType: AuthorizationType {
        switch self {
        case .item: .bearer
        case .refresh: .none
        }
    }
}

struct Item: Decodable {
    let id: String
}

struct Grant: Decodable {
    let token: String

    var accessToken: AccessToken { AccessToken(token) }
}

/// The results of many calls.
final class Tally: @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var right = 0
    private var wrong: [String] = []

    func run(_ id: Int, _ call: () async throws -> Item) async {
        do {
            let item = try await call()
            lock.withLock {
                if item.id == "\(id)" { right += 1 } else { wrong.append("\(id): received item \(item.id)") }
            }
        } catch {
            lock.withLock { wrong.append("\(error)") }
        }
    }

    var answers: Int { lock.withLock { right } }
    var failures: [String] { lock.withLock { wrong } }
}
