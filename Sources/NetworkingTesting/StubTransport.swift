import Foundation
public import Networking

/// A transport that returns scripted responses, without a network: for unit tests.
///
/// ```swift
/// let stub = StubTransport()
/// stub.on(.get, "/users/7", .json(["id": 7]))
/// stub.on(.post, "/users", .status(.conflict), .status(.created))      // first request: 409, then always 201
/// let profiles = ProfileService(environment: environment) { $0.transport = stub }
/// ```
///
/// A request that matches no rule fails with an error that describes the request. The transport validates every
/// request as an engine does, and records every valid request in ``requests``.
public final class StubTransport: Transport, @unchecked Sendable {  // because of the lock around every variable
    /// Returns the response to a request.
    public typealias Handler = @Sendable (HTTPRequest) async throws -> StubResponse

    private struct Rule {
        let method: HTTPMethod?
        let path: String?
        var answers: [Handler]

        func takes(_ request: HTTPRequest) -> Bool {
            guard method == nil || method == request.method else { return false }
            guard let path else { return true }
            let parts = Rule.segments(path)
            let segments = Rule.segments(request.url.path(percentEncoded: true))
            return parts.count == segments.count && zip(parts, segments).allSatisfy { $0 == $1 || $0.hasPrefix(":") }
        }

        /// Returns the segments of a path. A leading slash is ignored.
        private static func segments(_ path: String) -> [Substring] {
            (path.hasPrefix("/") ? path.dropFirst() : path[...]).split(separator: "/", omittingEmptySubsequences: false)
        }
    }

    private let lock = NSLock()
    private let clock: NetworkClock
    private var rules: [Rule] = []
    private var received: [HTTPRequest] = []

    /// Creates a transport without rules.
    ///
    /// - Parameter clock: The clock that measures the delays of the responses.
    public init(clock: NetworkClock = .continuous) {
        self.clock = clock
    }

    /// Creates a transport that calls a closure for the response to every request.
    public convenience init(clock: NetworkClock = .continuous, _ handler: @escaping Handler) {
        self.init(clock: clock)
        on(nil, nil, handler)
    }

    /// Adds a rule. If several rules match a request, the rule that was added last is used.
    ///
    /// - Parameters:
    ///   - method: The method. Nil matches every method.
    ///   - path: The whole path, percent-encoded and without a query: the path of the base URL, then the path of the
    ///     endpoint, such as `/v1/users/7`. A segment such as `:id` matches any segment. Nil matches every path.
    ///   - responses: The responses. Each request gets the next response; the last response is repeated.
    public func on(_ method: HTTPMethod?, _ path: String?, _ responses: StubResponse...) {
        add(Rule(method: method, path: path, answers: responses.map { response in { _ in response } }))
    }

    /// Adds a rule that calls a closure for its responses.
    public func on(_ method: HTTPMethod?, _ path: String?, _ handler: @escaping Handler) {
        add(Rule(method: method, path: path, answers: [handler]))
    }

    /// The valid requests that the transport has received so far, in order.
    public var requests: [HTTPRequest] { lock.withLock { received } }

    /// Reads the body as an engine does, so that the upload progress is reported.
    private func countBody(of request: HTTPRequest) async throws {
        guard request.progress != nil, request.body.isReplayable else { return }
        let reader = try request.openBody()
        defer { reader.close() }
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self)
        reader.onReady { wake.yield() }
        var turns = wakes.makeAsyncIterator()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            switch try buffer.withUnsafeMutableBytes({ try reader.read(into: $0) }) {
            case .bytes: continue
            case .end: return
            case .notYet: guard await turns.next() != nil else { throw CancellationError() }
            }
        }
    }

    /// Returns the response of the rule that matches the request, after the delay of the response.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/noStubRule`` if no rule matches; the error of the
    ///   response, if it has one.
    public func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        try request.validate()
        let handler = nextHandler(request)
        guard let handler else {
            throw NetworkError(
                .noStubRule, reason: "no rule of the stub matches the request; the rules are: \(ruleNames)",
                request: request)
        }
        try await countBody(of: request)
        let answer = try await handler(request)
        try await clock.wait(for: answer.delay)
        try Task.checkCancellation()
        if let error = answer.error { throw error }
        if let order = request.parts.webSocket { answer.socket?(order) }
        return HTTPResponse(answer.status, headers: answer.headers, content: .data(answer.body), to: request)
    }

    /// The rules as text for error messages: `GET /users/7, any /token`.
    private var ruleNames: String {
        let names = lock.withLock { rules.map { "\($0.method.map { "\($0)" } ?? "any") \($0.path ?? "path")" } }
        return names.isEmpty ? "none" : names.reversed().joined(separator: ", ")
    }

    private func add(_ rule: Rule) {
        lock.withLock { rules.insert(rule, at: 0) }
    }

    private func nextHandler(_ request: HTTPRequest) -> Handler? {
        lock.withLock {
            received.append(request)
            guard let index = rules.firstIndex(where: { $0.takes(request) }) else { return nil }
            return rules[index].answers.count > 1 ? rules[index].answers.removeFirst() : rules[index].answers.first
        }
    }
}

extension NetworkError.Kind {
    /// A ``StubTransport`` has no rule for the request. No error handler of the library replaces this error.
    public static let noStubRule = NetworkError.Kind("noStubRule")
}
