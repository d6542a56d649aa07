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
            // A process may be killed while it waits for the response.
            return .text(rotate(old, by: request.parameters["process"] ?? "")).delayed(by: .milliseconds(5))
        }
    }

    var violations: [String] { lock.withLock { faults } }

    /// Returns a violation if the server issued fewer tokens than expected. A run with few refreshes shows nothing.
    func idleness(atLeast count: Int) -> [String] {
        lock.withLock { issued < count ? ["only \(issued) refreshes, expected \(count)"] : [] }
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

    /// Records that a process is about to be killed.
    func noteDeath(of process: String) {
        lock.withLock { _ = dead.insert(process) }
    }

    func add(_ fault: String) {
        lock.withLock { faults.append(fault) }
    }

    private func rotate(_ old: String, by process: String) -> String {
        lock.withLock {
            if let first = uses[old] {
                // If the first process was killed before it saved its new token, no other process can know that token.
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
