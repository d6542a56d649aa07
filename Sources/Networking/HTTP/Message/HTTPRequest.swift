public import Foundation

/// A request message: what an endpoint becomes, what adapters change, what a transport carries.
///
/// It is a value: changing a copy leaves the others as they are. Copies share their memory until one of them is
/// changed.
public struct HTTPRequest: Sendable {
    private struct Parts: Sendable {
        var method: HTTPMethod
        var url: URL
        var origin: HTTPOrigin?
        var headers: HTTPHeaders
        var body: HTTPBody
        var timeouts: HTTPRequest.Timeouts
        var options = HTTPRequest.Options()
    }

    private var parts: CopyOnWrite<Parts>

    /// The method.
    public var method: HTTPMethod {
        get { parts.value.method }
        set { parts.value.method = newValue }
    }

    /// Where it goes: an absolute `http` or `https` URL.
    public var url: URL {
        get { parts.value.url }
        set {
            parts.value.url = newValue
            parts.value.origin = HTTPOrigin(newValue)
        }
    }

    /// The origin of the URL; nil if that has no scheme or no host. It is read once, since every policy asks for it.
    public var origin: HTTPOrigin? { parts.value.origin }

    /// The header fields. Those that describe the body are added from it where none of their name is here.
    public var headers: HTTPHeaders {
        get { parts.value.headers }
        _modify { yield &parts.value.headers }
    }

    /// The body.
    public var body: HTTPBody {
        get { parts.value.body }
        set { parts.value.body = newValue }
    }

    /// How long the attempt may take. The total is the call's business; a transport ignores it.
    public var timeouts: HTTPRequest.Timeouts {
        get { parts.value.timeouts }
        _modify { yield &parts.value.timeouts }
    }

    /// The typed options.
    public var options: HTTPRequest.Options {
        get { parts.value.options }
        _modify { yield &parts.value.options }
    }

    /// Makes a request.
    public init(
        _ method: HTTPMethod = .get, _ url: URL, headers: HTTPHeaders = [], body: HTTPBody = .empty,
        timeouts: HTTPRequest.Timeouts = HTTPRequest.Timeouts()
    ) {
        self.init(method, url, of: HTTPOrigin(url), headers: headers, body: body, timeouts: timeouts)
    }

    /// Makes a request whose origin is known already.
    init(
        _ method: HTTPMethod, _ url: URL, of origin: HTTPOrigin?, headers: HTTPHeaders = [], body: HTTPBody = .empty,
        timeouts: HTTPRequest.Timeouts
    ) {
        parts = CopyOnWrite(
            Parts(method: method, url: url, origin: origin, headers: headers, body: body, timeouts: timeouts))
    }

    /// The setting of a typed option.
    public subscript<Option: HTTPRequest.Option>(option option: Option.Type) -> Option.Value {
        get { options[option] }
        set { options[option] = newValue }
    }

    /// The header fields as they are sent: those set, then those of the body whose names are not among them.
    public var allHeaders: HTTPHeaders {
        body.headers.isEmpty ? headers : headers.merging(body.headers, .keepExisting)
    }
}

extension HTTPRequest: RedactedReflectable {
    var reflectedMembers: KeyValuePairs<String, Any> { ["request": description, "headers": headers] }

    /// Method, host and path: `GET api.example.com/users/7`. Neither query nor credentials.
    var redactedDescription: String {
        let port = url.port.map { ":\($0)" } ?? ""
        let host = url.host ?? ""
        return "\(method) \(host.contains(":") ? "[\(host)]" : host)\(port)\(url.path(percentEncoded: true))"
    }
}
