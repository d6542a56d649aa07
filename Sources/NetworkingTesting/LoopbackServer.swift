public import Foundation
public import Networking
import NetworkingServer

/// A small HTTP/1.1 server on 127.0.0.1, for tests of your own services on real sockets.
///
/// The server listens as soon as it is created. By default, the system chooses the port, so that tests can run many
/// servers in parallel. The server keeps connections alive, streams request bodies (with a fixed length or chunked) to
/// its handlers, and simulates failures (``LoopbackFault``).
///
/// ```swift
/// let server = try LoopbackServer()
/// server.route(.get, "/users/:id") { request in try .json(["id": request.parameters["id"]]) }
/// let profiles = ProfileService(environment: NetworkEnvironment(baseURL: server.url))
/// ```
///
/// If no route matches a request, the response is 404. If a handler throws, the response is 500 with the error as text.
/// Each connection has a thread. The server stops when it is released.
public final class LoopbackServer: Sendable {
    /// Returns the response to a request.
    public typealias Handler = @Sendable (LoopbackRequest) async throws -> LoopbackResponse

    private let routes = LoopbackRoutes()
    private let core: LoopbackServerCore<LoopbackRoutes>

    /// Creates a server and starts it.
    ///
    /// - Parameter port: The port. With 0, the system chooses a port. Default: 0.
    /// - Throws: The system's error if the server cannot listen on the port.
    public init(port: UInt16 = 0) throws {
        core = try LoopbackServerCore(routes, port: port)
    }

    /// Creates a server and starts it. The server calls `handler` for every request that matches no route.
    ///
    /// - Parameters:
    ///   - port: The port. With 0, the system chooses a port. Default: 0.
    ///   - handler: Returns the response to a request that matches no route.
    /// - Throws: The system's error if the server cannot listen on the port.
    public convenience init(port: UInt16 = 0, _ handler: @escaping Handler) throws {
        try self.init(port: port)
        routes.setFallback(handler)
    }

    deinit {
        core.stop()
    }

    /// The port on which the server listens.
    public var port: UInt16 { core.port }

    /// The base URL of the server: `http://127.0.0.1:`, then the port.
    public var url: URL { core.url }

    /// Adds a route. If several routes match a request, the route that was added last is used.
    ///
    /// - Parameters:
    ///   - method: The method. Nil matches every method.
    ///   - pattern: The path. A segment `:name` matches any one segment, whose value is stored in
    ///     ``LoopbackRequest/parameters``.
    ///   - handler: Returns the response. If it throws, the response is 500.
    public func route(_ method: HTTPMethod?, _ pattern: String, _ handler: @escaping Handler) {
        routes.add(method, pattern, handler)
    }

    /// Closes the listening socket and every connection. New connections are refused until ``restart()`` is called.
    public func stop() {
        core.stop()
    }

    /// Listens again on the same port. Does nothing if the server is running.
    ///
    /// - Throws: The system's error if the server cannot listen, for example because another process uses the port now.
    public func restart() throws {
        try core.start()
    }

    /// The number of connections accepted so far.
    public var acceptedConnections: Int { core.counters.accepted }

    /// The number of open connections.
    public var openConnections: Int { core.counters.open }

    /// The number of requests received so far.
    public var requestCount: Int { core.counters.requests }
}
