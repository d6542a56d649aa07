import Foundation
import Networking
import NetworkingTesting

/// A server that executes every write that arrives, and remembers its idempotency key. Some responses are lost, and
/// some writes are refused for now.
final class OutboxServer: @unchecked Sendable {  // because of the lock around every variable
    /// What has happened to the last request with a key.
    private struct Arrival {
        var process: String
        /// Whether the write may arrive again: the server responded with "not now", or the connection was lost.
        var mayReturn: Bool
        var executions: Int
    }

    let server: LoopbackServer
    private let lock = NSLock()
    private var arrivals: [String: Arrival] = [:]
    /// The number of the last new write of each order.
    private var last: [String: Int] = [:]
    private var dead: Set<String> = []
    private var faults: [String] = []
    private var requests = 0
    private var repetitions = (lost: 0, killed: 0, postponed: 0)
    private var random: SeededGenerator

    init(seed: UInt64) throws {
        server = try LoopbackServer()
        random = SeededGenerator(seed: seed)
        server.route(.post, "/write") { [self] request in
            let text = try await String(decoding: request.data(), as: UTF8.self)
            return receive(text, request.headers[.idempotencyKey] ?? "", request.headers["X-Process"] ?? "")
        }
    }

    var violations: [String] { lock.withLock { faults } }
    var count: Int { lock.withLock { requests } }
    /// The keys of the executed writes.
    var keys: Set<String> { lock.withLock { Set(arrivals.filter { $0.value.executions > 0 }.keys) } }

    var summary: String {
        lock.withLock {
            "\(arrivals.count.grouped) writes, \(requests.grouped) requests, repeated after a lost response "
                + "\(repetitions.lost), a kill \(repetitions.killed), 401, 429 or 503 \(repetitions.postponed)"
        }
    }

    /// Returns violations if too few events have happened for the run to show anything.
    func idleness(of kills: Int) -> [String] {
        lock.withLock {
            (arrivals.count < kills ? ["only \(arrivals.count) writes, expected \(kills)"] : [])
                + (repetitions.lost == 0 || repetitions.postponed == 0 ? ["no write was repeated"] : [])
        }
    }

    func add(_ fault: String) { lock.withLock { faults.append(fault) } }

    /// Records that a process is about to be killed.
    func noteDeath(of process: String) { _ = lock.withLock { dead.insert(process) } }

    /// - Parameter text: The JSON text of the order and the number of the write.
    private func receive(_ text: String, _ key: String, _ process: String) -> LoopbackResponse {
        lock.withLock {
            requests += 1
            let write = try? JSONDecoder().decode(WriteEndpoint.self, from: Data(text.utf8))
            guard let write, !key.isEmpty else {
                faults.append("a request has no key, or the body \(text)")
                return LoopbackResponse(.badRequest)
            }
            let known = arrivals[key]
            if let known {
                check(known, key, process)
            } else {
                // A lane belongs to one process, which numbers its writes.
                if let before = last[write.order], write.number <= before {
                    faults.append("write \(write.number) of \(write.order) arrived after \(before)")
                }
                last[write.order] = write.number
            }
            var arrival = Arrival(process: process, mayReturn: true, executions: known?.executions ?? 0)
            defer { arrivals[key] = arrival }
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<3: return LoopbackResponse(.serviceUnavailable)
            case 3..<5: return LoopbackResponse(.tooManyRequests)
            case 5..<7: return LoopbackResponse(.unauthorized)
            case 7..<12:
                arrival.executions += 1
                return LoopbackResponse(.created).failing(.closeBeforeHead)
            default:
                arrival.mayReturn = false
                arrival.executions += 1
                return LoopbackResponse(.created).delayed(by: .milliseconds(2))
            }
        }
    }

    private func check(_ known: Arrival, _ key: String, _ process: String) {
        if known.mayReturn {
            if known.executions > 0 { repetitions.lost += 1 } else { repetitions.postponed += 1 }
        } else if dead.contains(known.process) {
            repetitions.killed += 1
        } else {
            faults.append("the write \(key) of \(known.process) arrived again from \(process), without a reason")
        }
    }
}

/// A write of the proof: a number in an order.
struct WriteEndpoint: Endpoint, Codable {
    let order: String
    let number: Int

    var path: EndpointPath { "write" }
    var method: HTTPMethod { .post }
    var body: HTTPBody { .json(self) }
    var authorizationType: AuthorizationType { .bearer }
}
