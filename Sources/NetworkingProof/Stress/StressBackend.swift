import Foundation
import Networking
import NetworkingTesting

/// A server with faults. A log-in begins a session, access tokens can become invalid, and refresh tokens work once.
final class StressBackend: @unchecked Sendable {  // because of the lock around every variable
    struct Answer: Sendable {
        var status = HTTPStatus.ok
        var body = ""
        /// Whether the server asks for a pause, so that the gate closes.
        var isBusy = false
        /// Whether the connection is lost, so that the client receives no response.
        var isLost = false
    }

    /// A user's session.
    private struct Session: Sendable {
        var access = 1
        var refresh = 1
        /// The number of the last refresh token whose response was lost. The client may send this token again.
        var lost = 0
        var isRevoked = false
    }

    private let lock = NSLock()
    private var random: SeededGenerator
    private var sessions: [Int: Session] = [:]
    /// The number of requests for items.
    private var requests = 0
    /// The number of requests that still fail because of an outage.
    private var outage = 0
    private var faults: [String] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// The violations that the server has seen.
    var violations: [String] { lock.withLock { faults } }

    /// Begins the session of a user.
    func logIn(_ user: Int) -> AccessToken {
        lock.withLock { sessions[user] = Session() }
        return token(of: user, access: 1, refresh: 1)
    }

    /// Refuses the access tokens of a user from now on, until they are refreshed.
    func invalidate(_ user: Int) {
        lock.withLock { sessions[user]?.access += 1 }
    }

    /// Refuses all tokens of a user from now on.
    func revoke(_ user: Int) {
        lock.withLock { sessions[user]?.isRevoked = true }
    }

    /// Ends an outage.
    func recover() {
        lock.withLock { outage = 0 }
    }

    /// Returns the user and the number of a token, which has the form `7-3`.
    static func parts(of token: some StringProtocol) -> (user: Int, number: Int)? {
        let parts = token.split(separator: "-").compactMap { Int($0) }
        return parts.count == 2 ? (parts[0], parts[1]) : nil
    }

    /// The body of a response with status 200 that refuses a token.
    static let refusal = "refused"

    /// Returns "open" if the path needs no token. For any other path, returns the number of the token's user, or a
    /// refusal: the status 401 or, if there is a token, also the body ``refusal``. A random part of the requests fails.
    /// Every 2,000 requests, an outage begins, which ends when the breaker opens, or after 1,000 requests.
    func item(at path: String, authorization: String?) -> Answer {
        let token = authorization.flatMap { Self.parts(of: $0.dropFirst("Bearer ".count)) }
        return lock.withLock {
            requests += 1
            if requests % 2_000 == 0 { outage = 1_000 }
            if outage > 0 {
                outage -= 1
                return Answer(status: .serviceUnavailable)
            }
            switch Int.random(in: 0..<2_000, using: &random) {
            case 0..<50: return Answer(isLost: true)
            case 50..<100: return Answer(status: .serviceUnavailable)
            case 100..<103: return Answer(status: .tooManyRequests, isBusy: true)
            default: break
            }
            guard !path.hasPrefix("/open") else { return Answer(body: "open") }
            guard let token else { return Answer(status: .unauthorized) }
            guard let session = sessions[token.user], !session.isRevoked, token.number == session.access else {
                return Bool.random(using: &random) ? Answer(status: .unauthorized) : Answer(body: Self.refusal)
            }
            return Answer(body: "\(token.user)")
        }
    }

    /// Issues the next tokens for a refresh token.
    func refresh(with text: String) -> Answer {
        guard let sent = Self.parts(of: text) else { return Answer(status: .badRequest) }
        return lock.withLock {
            if Int.random(in: 0..<20, using: &random) == 0 { return Answer(status: .serviceUnavailable) }
            guard var session = sessions[sent.user], !session.isRevoked else { return Answer(status: .badRequest) }
            guard sent.number == session.refresh else {
                if sent.number != session.lost { faults.append("the refresh token \(text) was used twice") }
                return Answer(status: .badRequest)
            }
            session.refresh += 1
            session.access += 1
            let isLost = Int.random(in: 0..<30, using: &random) == 0
            if isLost { session.lost = sent.number }
            sessions[sent.user] = session
            guard !isLost else { return Answer(isLost: true) }
            return Answer(body: "\(sent.user)-\(session.access) \(sent.user)-\(session.refresh)")
        }
    }

    private func token(of user: Int, access: Int, refresh: Int) -> AccessToken {
        AccessToken("\(user)-\(access)", refreshToken: "\(user)-\(refresh)")
    }
}
