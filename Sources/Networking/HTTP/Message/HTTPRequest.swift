public import Foundation

/// A request message. An endpoint becomes a request, adapters change it, and a transport sends it.
///
/// A request is a value: a change to one copy does not affect other copies. Copies share their memory until one of them
/// is changed.
public struct HTTPRequest: Sendable {
    private struct Storage: Sendable {
        var method: HTTPMethod
        var url: URL
        var origin: HTTPOrigin?
        var headers: HTTPHeaders
        var body: HTTPBody
        var timeouts: HTTPRequest.Timeouts
        var options = HTTPRequest.Options()
        var networkAccess: NetworkAccess?
        var parts = HTTPRequest.Parts()
    }

    private var storage: CopyOnWrite<Storage>

    /// The method. Default: GET.
    public var method: HTTPMethod {
        get { storage.value.method }
        set { storage.value.method = newValue }
    }

    /// The target of the request: an absolute `http` or `https` URL.
    public var url: URL {
        get { storage.value.url }
        set {
            storage.value.url = newValue
            storage.value.origin = HTTPOrigin(newValue)
        }
    }

    /// The origin of the URL; nil if the URL has no scheme or no host. It is computed once per URL, because every
    /// policy reads it.
    public var origin: HTTPOrigin? { storage.value.origin }

    /// The header fields that were set. See ``allHeaders`` for the fields that are sent.
    public var headers: HTTPHeaders {
        get { storage.value.headers }
        _modify { yield &storage.value.headers }
    }

    /// The body. Default: ``HTTPBody/empty``.
    public var body: HTTPBody {
        get { storage.value.body }
        set { storage.value.body = newValue }
    }

    /// The time limits of an attempt. The `total` limit applies to the whole call, and transports ignore it.
    public var timeouts: HTTPRequest.Timeouts {
        get { storage.value.timeouts }
        _modify { yield &storage.value.timeouts }
    }

    /// The typed options. They are never sent.
    public var options: HTTPRequest.Options {
        get { storage.value.options }
        _modify { yield &storage.value.options }
    }

    /// Creates a request. A transport validates it before sending: see ``validate()``.
    public init(
        _ method: HTTPMethod = .get, _ url: URL, headers: HTTPHeaders = [], body: HTTPBody = .empty,
        timeouts: HTTPRequest.Timeouts = HTTPRequest.Timeouts()
    ) {
        self.init(method, url, of: HTTPOrigin(url), headers: headers, body: body, timeouts: timeouts)
    }

    /// Creates a request whose origin is already known.
    init(
        _ method: HTTPMethod, _ url: URL, of origin: HTTPOrigin?, headers: HTTPHeaders = [], body: HTTPBody = .empty,
        timeouts: HTTPRequest.Timeouts
    ) {
        storage = CopyOnWrite(
            Storage(method: method, url: url, origin: origin, headers: headers, body: body, timeouts: timeouts))
    }

    /// The value of a typed option; its default if it is not set.
    public subscript<Option: HTTPRequest.Option>(option option: Option.Type) -> Option.Value {
        get { storage.value.options[option] }
        set { storage.value.options[option] = newValue }
    }

    /// The kinds of networks that the request may use; nil means all.
    var networkAccess: NetworkAccess? {
        get { storage.value.networkAccess }
        set { if storage.value.networkAccess != newValue { storage.value.networkAccess = newValue } }
    }

    /// What the rooms of the library have added to the request.
    package var parts: HTTPRequest.Parts {
        get { storage.value.parts }
        _modify { yield &storage.value.parts }
    }

    /// The header fields that are sent: ``headers``, and then the fields of the body whose names do not occur in
    /// ``headers``.
    public var allHeaders: HTTPHeaders {
        body.headers.isEmpty ? headers : headers.merging(body.headers, .keepExisting)
    }
}

extension HTTPRequest: RedactedReflectable {
    var reflectedMembers: KeyValuePairs<String, Any> { ["request": description, "headers": headers] }

    /// The method, host and path: `GET api.example.com/users/7`. The text contains neither the query nor credentials.
    var redactedDescription: String {
        let port = url.port.map { ":\($0)" } ?? ""
        let host = url.host ?? ""
        return "\(method) \(host.contains(":") ? "[\(host)]" : host)\(port)\(url.path(percentEncoded: true))".onOneLine
    }
}
