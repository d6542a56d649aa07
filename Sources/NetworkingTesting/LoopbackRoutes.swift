import Foundation
import Networking
import NetworkingServer

/// The routes of a server. The route that was added last comes first.
final class LoopbackRoutes: LoopbackService, @unchecked Sendable {  // because of the lock around both variables
    private struct Route {
        let method: HTTPMethod?
        let segments: [Substring]
        let handler: LoopbackServer.Handler
    }

    private let lock = NSLock()
    private var routes: [Route] = []
    private var fallback: LoopbackServer.Handler = { request in
        LoopbackResponse.text("no route for \(request.method) \(request.path)", status: .notFound)
    }

    func add(_ method: HTTPMethod?, _ pattern: String, _ handler: @escaping LoopbackServer.Handler) {
        lock.withLock {
            routes.insert(Route(method: method, segments: pattern.split(separator: "/"), handler: handler), at: 0)
        }
    }

    func setFallback(_ handler: @escaping LoopbackServer.Handler) {
        lock.withLock { fallback = handler }
    }

    /// A response, and the request to which it belongs.
    typealias Answer = (response: LoopbackResponse, request: LoopbackRequest)

    func answer(_ request: IncomingRequest) async -> Answer {
        let request = LoopbackRequest(
            method: request.method, target: request.target, fields: request.fields, body: request.body,
            connection: request.connection)
        return (await answer(request), request)
    }

    func write(
        _ answer: Answer, on socket: LoopbackSocket, after unread: Data, isStopped: @escaping @Sendable () -> Bool
    ) throws -> Bool {
        try LoopbackResponseWriter(socket: socket, isStopped: isStopped, unread: unread)
            .write(answer.response, to: answer.request)
    }

    /// Returns the response of the first route that matches. If its handler throws, returns a response with status 500.
    private func answer(_ request: LoopbackRequest) async -> LoopbackResponse {
        let (routes, fallback) = lock.withLock { (self.routes, self.fallback) }
        var request = request
        var handler = fallback
        for route in routes {
            guard route.method == nil || route.method == request.method else { continue }
            guard let parameters = Self.match(route.segments, request.path) else { continue }
            request.parameters = parameters
            handler = route.handler
            break
        }
        do {
            return try await handler(request)
        } catch {
            return LoopbackResponse.text("\(error)", status: .internalServerError)
        }
    }

    private static func match(_ pattern: [Substring], _ path: String) -> [String: String]? {
        let segments = path.split(separator: "/")
        guard segments.count == pattern.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(pattern, segments) {
            if part.hasPrefix(":") {
                parameters[String(part.dropFirst())] = segment.removingPercentEncoding ?? String(segment)
            } else if part != segment {
                return nil
            }
        }
        return parameters
    }
}
