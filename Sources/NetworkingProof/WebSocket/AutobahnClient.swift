import Foundation
import Networking

/// The client of Autobahn's test suite, which `.ci/autobahn` runs: it opens a WebSocket for each case of the fuzzing
/// server, and sends each message back.
struct AutobahnClient {
    private let service: NetworkService
    private let first: Int
    private let last: Int?

    /// - Parameter arguments: The port of the fuzzing server, and the numbers of the first and the last case.
    init?(_ arguments: [String]) {
        guard let port = arguments.first.flatMap({ Int($0) }), let url = URL(string: "http://127.0.0.1:\(port)") else {
            return nil
        }
        first = arguments.dropFirst().first.flatMap { Int($0) } ?? 1
        last = arguments.dropFirst(2).first.flatMap { Int($0) }
        service = NetworkService(environment: NetworkEnvironment(baseURL: url))
    }

    func run() async throws {
        let count = try await self.count()
        for number in first...min(last ?? count, count) {
            await echo("runCase", ["case": number, "agent": "Networking"])
        }
        await echo("updateReports", ["agent": "Networking"])
    }

    private func socket(_ path: EndpointPath, _ query: URLQuery) -> WebSocket {
        service.webSocket(
            AdHocEndpoint.get(path).query(query),
            WebSocket.Options {
                $0.maximumMessageSize = 64 << 20
                $0.pingInterval = nil
            }, reconnecting: .never)
    }

    private func count() async throws -> Int {
        for try await case .text(let text) in socket("getCaseCount", URLQuery()) { return Int(text) ?? 0 }
        return 0
    }

    private func echo(_ path: EndpointPath, _ query: URLQuery) async {
        let socket = socket(path, query)
        do { for try await message in socket { try await socket.send(message) } } catch {
            // Many cases end with an error, because the server violates the protocol on purpose.
        }
    }
}
