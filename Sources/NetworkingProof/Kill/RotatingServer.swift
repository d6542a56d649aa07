import Foundation
import Networking
import NetworkingTesting

/// A server whose refresh tokens work once, and which remembers by which process each was used.
final class RotatingServer: @unchecked Sendable {  // because of the lock around every variable
    let server: LoopbackServer
    private let lock = NSLock()
    private var valid = 0
    private var issued = 0
    /// By which process each refresh token was used, and which one was issued for it.
    private var uses: [String: (process: String, issued: String)] = [:]
    private var dead: Set<String> = []
    private var faults: [String] = []
    private var losses = 0
    private var served = 0

    init() throws {
        server = try LoopbackServer()
        server.route(.get, "/item") { [self] request in
            let isValid = lock.withLock {
                served += 1
                return request.headers[.authorization] == "Bearer \(valid)"
            }
            return LoopbackResponse(isValid ? .ok : .unauthorized)
        }
        server.route(.post, "/token/:process") { [self] request in
            let old = try await String(decoding: request.data(), as: UTF8.self)
            // A process may be killed while it waits for the answer.
            return .text(rotate(old, by: request.parameters["process"] ?? "")).delayed(by: .milliseconds(5))
        }
    }

    var violations: [String] { lock.withLock { faults } }

    /// A fault if fewer tokens were issued than expected: then the run has shown nothing.
    func idleness(atLeast count: Int) -> [String] {
        lock.withLock { issued < count ? ["only \(issued) refreshes, expected \(count)"] : [] }
    }

    /// What has happened, in words.
    var summary: String {
        lock.withLock {
            "\(issued.grouped) refreshes, \(served.grouped) requests, "
                + "\(losses) killed between the server's rotation and the save"
        }
    }

    /// The current access token is refused from now on.
    func invalidate() {
        lock.withLock { valid = -1 }
    }

    /// Waits until the token has been refreshed since it was refused; it is a fault if that takes longer than 15
    /// seconds.
    func waitForRefresh() async throws {
        let limit = ContinuousClock.now + .seconds(15)
        while lock.withLock({ valid == -1 }) {
            guard ContinuousClock.now < limit else { return add("no refresh within 15 seconds after a kill") }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// A process is about to be killed.
    func noteDeath(of process: String) {
        lock.withLock { _ = dead.insert(process) }
    }

    func add(_ fault: String) {
        lock.withLock { faults.append(fault) }
    }

    private func rotate(_ old: String, by process: String) -> String {
        lock.withLock {
            if let first = uses[old] {
                // If the first one died before it could save what it got, nobody can know.
                if dead.contains(first.process), uses[first.issued] == nil {
                    losses += 1
                } else {
                    faults.append("the refresh token \(old) was used by \(first.process), and again by \(process)")
                }
            }
            issued += 1
            uses[old] = (process, "\(issued)")
            valid = issued
            return "\(issued)"
        }
    }
}
