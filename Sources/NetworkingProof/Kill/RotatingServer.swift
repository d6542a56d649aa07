import Foundation
import Networking
import NetworkingTesting

/// A server whose refresh tokens can be used once. It records which process used which refresh token.
final class RotatingServer: @unchecked Sendable {  // because of the lock around every variable
    let server: LoopbackServer
    private let lock = NSLock()
    private var valid = 0
    private var issued = 0
    /// The process that used each refresh token, and the token that was issued for it.
    private var uses: [String: (process: String, issued: String)] = [:]
    /// The tokens with which a process has sent a request. Rule 12: such a token was stored before it was sent.
    private var sent: Set<Substring> = []
    private var dead: Set<String> = []
    private var faults: [String] = []
    /// The repeated uses of refresh tokens whose first user is not known to have been killed.
    private var reuses: [(process: String, at: ContinuousClock.Instant, fault: String)] = []
    private var losses = 0
    private var served = 0

    init() throws {
        server = try LoopbackServer()
        server.route(.get, "/item") { [self] request in
            let isValid = lock.withLock {
                served += 1
                let token = request.headers[.authorization]?.dropFirst("Bearer ".count)
                if let token { sent.insert(token) }
                return token == "\(valid)"
            }
            return LoopbackResponse(isValid ? .ok : .unauthorized)
        }
        server.route(.post, "/token/:process") { [self] request in
            let old = try await String(decoding: request.data(), as: UTF8.self)
            // A process may be killed while it waits for the response.
            return .text(rotate(old, by: request.parameters["process"] ?? "")).delayed(by: .milliseconds(5))
        }
    }

    var violations: [String] { lock.withLock { faults + reuses.map(\.fault) } }

    /// Returns a violation if the server issued fewer tokens than expected, because a run with few refreshes shows
    /// nothing. Also returns a violation if too many tokens were lost. Only one of the four processes refreshes, and
    /// only a kill of this process between the rotation and the save loses a token. On a slow disk, each of its kills
    /// may do this: a quarter of all kills, and by chance more.
    func idleness(of kills: Int) -> [String] {
        lock.withLock {
            (issued < kills ? ["only \(issued) refreshes, expected \(kills)"] : [])
                + (losses > kills / 2 + 3 ? ["\(losses) lost tokens after \(kills) kills"] : [])
        }
    }

    /// A description of what happened in the run.
    var summary: String {
        lock.withLock {
            "\(issued.grouped) refreshes, \(served.grouped) requests, "
                + "\(losses) processes killed between the server's rotation and the save"
        }
    }

    /// Refuses the current access token from now on.
    func invalidate() {
        lock.withLock { valid = -1 }
    }

    /// Waits until a refresh has replaced the refused token. Records a violation if that takes longer than
    /// 15 seconds.
    func waitForRefresh() async throws {
        let limit = ContinuousClock.now + .seconds(15)
        while lock.withLock({ valid == -1 }) {
            guard ContinuousClock.now < limit else { return add("no refresh within 15 seconds after a kill") }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Records that a process has been sent the signal that kills it. If the process's refresh token was used again
    /// while the signal was being sent, this use counts as a use after the death of the process.
    func noteDeath(of process: String) {
        let now = ContinuousClock.now
        lock.withLock {
            dead.insert(process)
            let before = reuses.count
            reuses.removeAll { $0.process == process && now - $0.at < .milliseconds(2) }
            losses += before - reuses.count
        }
    }

    func add(_ fault: String) {
        lock.withLock { faults.append(fault) }
    }

    private func rotate(_ old: String, by process: String) -> String {
        lock.withLock {
            if let first = uses[old] {
                let fault = "the refresh token \(old) was used by \(first.process), and again by \(process)"
                // If the first process was killed before it saved its new token, no other process can know that token.
                // A token that was used or sent had been saved.
                if uses[first.issued] != nil || sent.contains(Substring(first.issued)) {
                    faults.append(fault)
                } else if dead.contains(first.process) {
                    losses += 1
                } else {
                    reuses.append((first.process, .now, fault))
                }
            }
            issued += 1
            uses[old] = (process, "\(issued)")
            valid = issued
            return "\(issued)"
        }
    }
}
