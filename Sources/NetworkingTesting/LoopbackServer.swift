public import Foundation
public import Networking

/// A small HTTP/1.1 server on 127.0.0.1, for tests of your own services on real sockets.
///
/// It listens from the moment it is made, on a port of the system's choice, so any number of tests run theirs in
/// parallel. It keeps connections alive, takes fixed and chunked bodies while they arrive, and makes whatever goes
/// wrong happen on demand.
///
/// ```swift
/// let server = try LoopbackServer()
/// server.route(.get, "/users/:id") { request in try .json(["id": request.parameters["id"]]) }
/// let profiles = ProfileService(environment: NetworkEnvironment(baseURL: server.url))
/// ```
///
/// A request that no route takes is answered by 404, a handler that throws by 500 with the error as text. Each
/// connection has a thread. It stops when it is released.
public final class LoopbackServer: Sendable {
    /// Answers a request.
    public typealias Handler = @Sendable (LoopbackRequest) async throws -> LoopbackResponse

    private let core: LoopbackServerCore

    /// Starts a server.
    ///
    /// - Parameter port: The port; 0 lets the system choose.
    /// - Throws: The system's error where it cannot listen.
    public init(port: UInt16 = 0) throws {
        core = try LoopbackServerCore(port: port)
    }

    /// Starts a server that answers every request with `handler`.
    ///
    /// - Parameters:
    ///   - port: The port; 0 lets the system choose.
    ///   - handler: Answers what no route takes.
    /// - Throws: The system's error where it cannot listen.
    public convenience init(port: UInt16 = 0, _ handler: @escaping Handler) throws {
        try self.init(port: port)
        core.routes.setFallback(handler)
    }

    deinit {
        core.stop()
    }

    /// The port it listens on.
    public var port: UInt16 { core.port }

    /// `http://127.0.0.1:` with the port.
    public var url: URL { core.url }

    /// Adds a route; of several that match, the one added last answers.
    ///
    /// - Parameters:
    ///   - method: The method; nil takes any.
    ///   - pattern: The path; a segment `:name` matches any one segment and is found in ``LoopbackRequest/parameters``.
    ///   - handler: Answers.
    public func route(_ method: HTTPMethod?, _ pattern: String, _ handler: @escaping Handler) {
        core.routes.add(method, pattern, handler)
    }

    /// Closes the listening socket and every connection; new connections are refused. ``restart()`` takes it back.
    public func stop() {
        core.stop()
    }

    /// Listens again, on the same port.
    ///
    /// - Throws: The system's error where the port was taken meanwhile.
    public func restart() throws {
        try core.start()
    }

    /// How many connections were accepted so far.
    public var acceptedConnections: Int { core.counters.accepted }

    /// How many connections are open.
    public var openConnections: Int { core.counters.open }

    /// How many requests have arrived so far.
    public var requestCount: Int { core.counters.requests }
}
