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
        var isElsewhere = false
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

    /// Whether the scheme is `https`.
    var isSecure: Bool { storage.value.origin?.isSecure ?? false }

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

    /// Whether both requests are unchanged copies of the same request. Equal requests need not be copies.
    func isCopy(of other: HTTPRequest) -> Bool { storage.isShared(with: other.storage) }

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

    /// Whether a server has sent the call to another origin, by a redirect or as the location of an upload. Remains
    /// true if a later redirect leads back to the origin of the call. Such a request carries no client certificate.
    package var isElsewhere: Bool {
        get { storage.value.isElsewhere }
        set { if storage.value.isElsewhere != newValue { storage.value.isElsewhere = newValue } }
    }

    /// What the rooms of the library have added to the request.
    package var parts: HTTPRequest.Parts {
        get { storage.value.parts }
        _modify { yield &storage.value.parts }
    }

    /// The header fields that are sent: ``headers``, and then the fields of the body whose names do not occur in
    /// ``headers``. If the body is a form, its `Content-Type` replaces a `Content-Type` with another type or boundary.
    /// With the replaced field, the server could not read the form ([RFC 7578 section
    /// 4.1](https://www.rfc-editor.org/rfc/rfc7578#section-4.1)).
    public var allHeaders: HTTPHeaders {
        guard !body.headers.isEmpty else { return headers }
        guard let given = headers[.contentType], let own = body.headers[.contentType], given != own,
            let form = MediaType(own), form.isForm, MediaType(given)?.describesForm(form) != true
        else { return headers.merging(body.headers, .keepExisting) }
        var headers = headers
        headers[.contentType] = own
        return headers.merging(body.headers, .keepExisting)
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

extension HTTPRequest {
    /// The time limits of a call. If a property is nil, the next level in this order applies: call, endpoint, service,
    /// default.
    public struct Timeouts: Hashable, Sendable {
        /// The longest time without any transfer, in either direction, during an attempt. Default: 60 seconds.
        public var idle: Duration?
        /// The longest time for connecting. Default: 15 seconds. Only libcurl can measure it; for `URLSession`, see
        /// ``URLSessionTransport``.
        public var connect: Duration?
        /// The longest time for the whole call, from its beginning to its end, including queues, adapters, token
        /// refresh, handlers and delays. Default: no limit. For a stream, the limit ends when the response's head is
        /// received.
        public var total: Duration?

        /// Creates a set of timeouts. Each timeout must be greater than zero.
        public init(idle: Duration? = nil, connect: Duration? = nil, total: Duration? = nil) {
            self.idle = idle
            self.connect = connect
            self.total = total
        }

        /// Returns these timeouts. Timeouts that are nil are taken from `base`.
        func over(_ base: HTTPRequest.Timeouts) -> HTTPRequest.Timeouts {
            HTTPRequest.Timeouts(idle: idle ?? base.idle, connect: connect ?? base.connect, total: total ?? base.total)
        }

        /// The idle timeout that applies: the value that is set, or the default.
        var effectiveIdle: Duration { idle ?? Self.standardIdle }

        /// The timeout for connecting that applies: the value that is set, or the default.
        var effectiveConnect: Duration { connect ?? Self.standardConnect }

        /// The default timeouts: 60 seconds idle, 15 seconds for connecting, no limit for the whole call.
        static let standard = HTTPRequest.Timeouts(idle: standardIdle, connect: standardConnect)

        private static let standardIdle = Duration.seconds(60)
        private static let standardConnect = Duration.seconds(15)
    }
}

/// The kinds of networks that a request may use, in addition to networks without extra cost or limits. Default: all.
///
/// ```swift
/// RequestSettings { $0.networkAccess = [.cellular, .expensive] }  // not in Low Data Mode
/// ```
///
/// On Apple platforms, a request ends with ``NetworkError/Kind/networkRestricted`` if only excluded networks are
/// available. Linux does not distinguish the kinds of networks, and uses any network.
public struct NetworkAccess: OptionSet, Sendable {
    /// The bits of the kinds: 1 cellular, 2 expensive, 4 constrained.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Cellular networks (`URLRequest.allowsCellularAccess`).
    public static let cellular = NetworkAccess(rawValue: 1)
    /// Networks that the system considers expensive, such as a personal hotspot and most cellular networks
    /// (`URLRequest.allowsExpensiveNetworkAccess`).
    public static let expensive = NetworkAccess(rawValue: 2)
    /// Networks in Low Data Mode (`URLRequest.allowsConstrainedNetworkAccess`).
    public static let constrained = NetworkAccess(rawValue: 4)
    /// Every network.
    public static let all: NetworkAccess = [.cellular, .expensive, .constrained]
}
