public import Foundation

/// A response, with its request.
///
/// A response is a value: a change to one copy does not affect other copies. Copies share their memory until one of
/// them is changed.
public struct HTTPResponse: Sendable {
    private struct Parts: Sendable {
        var status: HTTPStatus
        var headers: HTTPHeaders
        var content: HTTPResponse.Content
        var request: HTTPRequest
        var timing: HTTPResponse.Timing
        var redirects: [HTTPResponse] = []
        var httpVersion: String?
        var source = HTTPResponse.Source.network
        var isShared = false
        var knownRefusal: Bool?
        var cutOff: String?
        var connection: HTTPResponse.Connection?
    }

    private var parts: CopyOnWrite<Parts>

    /// The status, such as 404 Not Found.
    public var status: HTTPStatus {
        get { parts.value.status }
        set { parts.value.status = newValue }
    }

    /// The header fields of the response.
    public var headers: HTTPHeaders {
        get { parts.value.headers }
        _modify { yield &parts.value.headers }
    }

    /// The body: in memory, in a file, or still being received.
    public var content: HTTPResponse.Content {
        get { parts.value.content }
        set { parts.value.content = newValue }
    }

    /// The request as it was sent; after redirects, the last request.
    public var request: HTTPRequest {
        get { parts.value.request }
        _modify { yield &parts.value.request }
    }

    /// The times at which the phases of the transfer ended.
    public var timing: HTTPResponse.Timing {
        get { parts.value.timing }
        _modify { yield &parts.value.timing }
    }

    /// Whether this call has joined the request of another caller, and the response belongs to that request.
    package internal(set) var isShared: Bool {
        get { parts.value.isShared }
        set { parts.value.isShared = newValue }
    }

    /// The connection on which the response arrived; nil if the response comes from a cache or a test, or if the engine
    /// does not report it (``URLSessionTransport`` on Linux).
    public internal(set) var connection: HTTPResponse.Connection? {
        get { parts.value.connection }
        set { parts.value.connection = newValue }
    }

    /// The redirects before this response, in order, each with its request.
    public var redirects: [HTTPResponse] { parts.value.redirects }

    /// Whether the response comes from the server or from the service's cache.
    public internal(set) var source: HTTPResponse.Source {
        get { parts.value.source }
        set { parts.value.source = newValue }
    }

    /// Whether the response means that the server refuses the token, as decided by the session of the call; nil before
    /// the session has decided.
    var knownRefusal: Bool? {
        get { parts.value.knownRefusal }
        set { parts.value.knownRefusal = newValue }
    }

    /// The reason why the body is incomplete; nil if the body is complete. Only a rejected response or the response of
    /// an error may have an incomplete body.
    var cutOff: String? {
        get { parts.value.cutOff }
        set { parts.value.cutOff = newValue }
    }

    /// The head of the response, with an empty body.
    var head: HTTPResponse {
        HTTPResponse(status, headers: headers, to: request, timing: timing, httpVersion: httpVersion)
    }

    /// The HTTP version of the response: `1.1` or `2`; nil if the response comes from a cache or a test, or if the
    /// engine does not report the version (``URLSessionTransport`` on Linux).
    public var httpVersion: String? { parts.value.httpVersion }

    /// Creates a response. By default, it has an empty body in memory.
    public init(
        _ status: HTTPStatus, headers: HTTPHeaders = [], content: HTTPResponse.Content = .data(Data()),
        to request: HTTPRequest, timing: HTTPResponse.Timing = HTTPResponse.Timing(), httpVersion: String? = nil
    ) {
        parts = CopyOnWrite(
            Parts(
                status: status, headers: headers, content: content, request: request, timing: timing,
                httpVersion: httpVersion))
    }

    /// The URL of the request; after redirects, the URL of the last request.
    public var url: URL { request.url }

    /// The body if it is in memory; empty if it is in a file or still being received.
    public var data: Data {
        if case .data(let data) = content { data } else { Data() }
    }

    /// Returns the response with the redirects that led to it.
    func reached(by redirects: [HTTPResponse]) -> HTTPResponse {
        var response = self
        response.parts.value.redirects = redirects
        return response
    }

    /// Returns the response for use outside its call: calls `leavingCall()` on its request and its redirects.
    package func leavingCall() -> HTTPResponse {
        var response = self
        response.request = request.leavingCall()
        if !redirects.isEmpty { response.parts.value.redirects = redirects.map { $0.leavingCall() } }
        return response
    }

    /// Returns the response. If its body is in memory, only the first `limit` bytes of the body are kept.
    func keeping(bytes limit: Int) -> HTTPResponse {
        guard case .data(let data) = content, data.count > limit else { return self }
        var response = self
        response.content = .data(Data(data.prefix(limit)))
        response.cutOff = cutOff ?? "only the first \(limit) bytes are kept"
        return response
    }

    /// Returns a copy of the response for a record. The copy keeps at most `limit` bytes of the response's body, and at
    /// most as many bytes of the body of each request.
    func kept(bytes limit: Int) -> HTTPResponse {
        if data.count <= limit, redirects.isEmpty, let body = request.body.data, body.count <= limit { return self }
        var response = self
        if case .data(let data) = content, data.count > limit { response.content = .data(data.prefix(whole: limit)) }
        response.request = request.kept(bytes: limit)
        if !redirects.isEmpty { response.parts.value.redirects = redirects.map { $0.kept(bytes: limit) } }
        return response
    }

    /// The response, with an empty body if the body is still being received. An error stores this value instead of the
    /// response, so that the error does not hold a connection open.
    var withoutStream: HTTPResponse {
        guard case .stream = content else { return self }
        var response = self
        response.content = .data(Data())
        return response
    }
}

extension HTTPResponse: RedactedReflectable {
    var reflectedMembers: KeyValuePairs<String, Any> { ["response": description, "headers": headers] }

    /// The status and the request: `404 Not Found to GET api.example.com/users/7`. The text contains no query, no
    /// credentials and no body.
    var redactedDescription: String { "\(status) to \(request)" }
}

extension HTTPResponse {
    /// Where a response comes from.
    public enum Source: Hashable, Sendable {
        /// The server sent the response for this request, or for an equal request that was in progress.
        case network
        /// The response was stored in the service's ``ResponseCache``, and nothing was sent for it.
        case cache
        /// The response was stored in the service's ``ResponseCache``, and the server has confirmed that the response
        /// is current.
        case revalidated

        /// The source in words, for reports; nil for the network.
        var note: String? {
            switch self {
            case .network: nil
            case .cache: "from the cache"
            case .revalidated: "from the cache, confirmed by the server"
            }
        }
    }
}

extension HTTPResponse {
    /// The location of a response's bytes.
    public enum Content: Sendable {
        /// The complete body, in memory.
        case data(Data)
        /// The complete body, in a file.
        case file(URL)
        /// A body that is still being received.
        case stream(IncomingBody)

        /// Whether the content is not yet in memory, or is larger than the limit.
        func isPending(upTo limit: Int) -> Bool {
            if case .data(let data) = self { data.count > limit } else { true }
        }

        /// Returns the content in memory.
        ///
        /// - Parameter limit: The maximum number of bytes. If the content is longer, the method throws
        ///   ``NetworkError/Kind/responseTooLarge``.
        package func collected(upTo limit: Int) async throws -> HTTPResponse.Content {
            switch self {
            case .data(let data):
                guard data.count <= limit else { throw NetworkError.responseTooLarge(limit: limit) }
                return self
            case .file(let url):
                let size = try url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
                guard size <= limit else { throw NetworkError.responseTooLarge(limit: limit) }
                return .data(try Data(contentsOf: url))
            case .stream(let body):
                return .data(try await body.collect(upTo: limit))
            }
        }
    }
}

extension HTTPResponse {
    /// Returns the response with its content in memory.
    ///
    /// - Throws: The error of reading the content, with the response's head. If the body was already in memory and is
    ///   too large, and the status is not a success, the error also contains the beginning of the body.
    func collected(upTo limit: Int) async throws -> HTTPResponse {
        var response = self
        do { response.content = try await content.collected(upTo: limit) } catch let error as NetworkError {
            var known = withoutStream
            if case .data(let data) = known.content {
                known.content = .data(status.beginning(of: data.prefix(max(limit, 0))))
            }
            known.cutOff = error.cutOffReason
            throw error.completed(request: request, response: known)
        }
        return response
    }
}
