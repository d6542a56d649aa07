import Foundation
import Networking
import NetworkingTesting
import Testing

/// A server, and the engine under test.
struct Exchange {
    let server: LoopbackServer
    let transport: any Transport

    init(
        _ transport: any Transport,
        _ handler: @escaping LoopbackServer.Handler = { _ in .text("hello") }
    ) throws {
        server = try LoopbackServer(handler)
        self.transport = transport
    }

    init(_ server: LoopbackServer, _ transport: any Transport) {
        self.server = server
        self.transport = transport
    }

    func request(_ method: HTTPMethod = .get, _ path: String = "/", body: HTTPBody = .empty) throws -> HTTPRequest {
        let url = try #require(URL(string: path, relativeTo: server.url)).absoluteURL
        return HTTPRequest(method, url, body: body, timeouts: HTTPRequest.Timeouts(idle: .seconds(15)))
    }

    func send(_ request: HTTPRequest, limit: Int = 1 << 20) async throws -> HTTPResponse {
        try await transport.send(request, delivering: .buffered(limit: limit))
    }

    /// Returns the network error with which a request fails; nil if the request succeeds.
    func failure(_ request: HTTPRequest, limit: Int = 1 << 20) async -> NetworkError? {
        do {
            _ = try await send(request, limit: limit)
            return nil
        } catch {
            return error as? NetworkError
        }
    }

    /// Calls a closure until its result is as expected, at most three times, and returns the last result. Tests of
    /// timeouts use this method, because a call can exceed the tested timeout if the machine stalls for a moment.
    static func atMostThreeTimes<Value>(
        until isExpected: (Value) -> Bool, _ body: () async throws -> Value
    ) async rethrows -> Value {
        for _ in 0..<2 {
            let value = try await body()
            if isExpected(value) { return value }
        }
        return try await body()
    }

    /// Waits until a condition is true, at most for the given duration, and returns whether it became true.
    static func eventually(within limit: Duration = .seconds(20), _ condition: () -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if condition() { return true }
            try await Task.sleep(for: .milliseconds(5))
        }
        return condition()
    }
}

extension HTTPResponse {
    var text: String { String(decoding: data, as: UTF8.self) }
}
