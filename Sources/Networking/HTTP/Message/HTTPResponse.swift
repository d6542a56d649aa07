public import Foundation

/// A response, with its request.
///
/// It is a value: changing a copy leaves the others as they are. Copies share their memory until one of them is
/// changed.
public struct HTTPResponse: Sendable {
    private struct Parts: Sendable {
        var status: HTTPStatus
        var headers: HTTPHeaders
        var content: HTTPResponse.Content
        var request: HTTPRequest
        var timing: HTTPResponse.Timing
        var redirects: [HTTPResponse] = []
        var httpVersion: String?
    }

    private var parts: CopyOnWrite<Parts>

    /// The status.
    public var status: HTTPStatus {
        get { parts.value.status }
        set { parts.value.status = newValue }
    }

    /// The header fields.
    public var headers: HTTPHeaders {
        get { parts.value.headers }
        _modify { yield &parts.value.headers }
    }

    /// The body.
    public var content: HTTPResponse.Content {
        get { parts.value.content }
        set { parts.value.content = newValue }
    }

    /// The request as it was sent; after redirects, the last one.
    public var request: HTTPRequest {
        get { parts.value.request }
        _modify { yield &parts.value.request }
    }

    /// When the parts of the exchange were over.
    public var timing: HTTPResponse.Timing {
        get { parts.value.timing }
        _modify { yield &parts.value.timing }
    }

    /// The redirects that led here, the first one first, each with its request.
    public var redirects: [HTTPResponse] { parts.value.redirects }

    /// The version of HTTP in which the response came: `1.1` or `2`; nil if it came from a cache or a test, or if the
    /// engine cannot tell (``URLSessionTransport`` on Linux).
    public var httpVersion: String? { parts.value.httpVersion }

    /// Makes a response.
    public init(
        _ status: HTTPStatus, headers: HTTPHeaders = [], content: HTTPResponse.Content = .data(Data()),
        to request: HTTPRequest, timing: HTTPResponse.Timing = HTTPResponse.Timing(), httpVersion: String? = nil
    ) {
        parts = CopyOnWrite(
            Parts(
                status: status, headers: headers, content: content, request: request, timing: timing,
                httpVersion: httpVersion))
    }

    /// The URL of the request; after redirects, the last one.
    public var url: URL { request.url }

    /// The body, if it is in memory; empty if it is in a file or still coming.
    public var data: Data {
        if case .data(let data) = content { data } else { Data() }
    }

    /// A text for the status in the registry's words: `Not Found`.
    var message: String { status.reasonPhrase }

    /// The response, come to by way of others.
    func reached(by redirects: [HTTPResponse]) -> HTTPResponse {
        var response = self
        response.parts.value.redirects = redirects
        return response
    }

    /// The response without a body that is still coming: an error that is kept does not keep a connection.
    var withoutStream: HTTPResponse {
        guard case .stream = content else { return self }
        var response = self
        response.content = .data(Data())
        return response
    }
}

extension HTTPResponse: RedactedReflectable {
    var reflectedMembers: KeyValuePairs<String, Any> { ["response": description, "headers": headers] }

    /// Status and request: `404 Not Found to GET api.example.com/users/7`. Neither query, credentials nor body.
    var redactedDescription: String { "\(status) to \(request)" }
}
