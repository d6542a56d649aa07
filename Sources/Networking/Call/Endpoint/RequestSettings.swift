import Foundation

/// The settings of a call, an endpoint or a service. If a value is nil for the call, the value of the endpoint applies.
/// If that is nil, too, the value of the service applies.
///
/// ```swift
/// let quick = RequestSettings { $0.timeouts.total = .seconds(3) }
/// let feed: Feed = try await service.request(FeedEndpoint.latest, with: quick)
/// ```
public struct RequestSettings: Sendable {
    fileprivate struct Parts: Sendable {
        var timeouts = HTTPRequest.Timeouts()
        var validators: [ResponseValidator]?
        var maximumAttempts: Int?
        var maximumResponseSize: Int?
        var decoder: (any BodyDecoder)?
        var encoder: (any BodyEncoder)?
        var idempotencyKey: IdempotencyKey?
        var environment: CopyOnWrite<NetworkEnvironment>?
        var options = HTTPRequest.Options()
        var progress: RequestProgress.Meter?
        var networkAccess: NetworkAccess?
        var orders = HTTPRequest.Parts()
        var address: URL?
        var condition: CopyOnWrite<Result<HTTPHeader, NetworkError>>?
        var body: HTTPBody?
        var reportsDoubt: Bool?
        var discardsUpload: Bool?
    }

    /// The values; nil if nothing is set, so that such settings need no memory. A call copies its settings several
    /// times, and a copy only retains this reference.
    private var storage: CopyOnWrite<Parts>?

    /// The values, for changes. To read one of them, use `storage`, so that the others are not copied.
    private var parts: Parts {
        get { storage?.value ?? Parts() }
        _modify {
            var values = storage.take() ?? CopyOnWrite(Parts())
            defer { storage = values }  // also if the change throws an error
            yield &values.value
        }
    }

    /// The environment: server, prefix, headers and query, replaced as a whole. Default: the environment of the
    /// service.
    public var environment: NetworkEnvironment? {
        get { sharedEnvironment?.value }
        set { parts.environment = newValue.map { CopyOnWrite($0) } }
    }
    /// The timeouts. For each timeout that is nil, the value of the endpoint applies. If that is nil, too, the value of
    /// the service applies.
    public var timeouts: HTTPRequest.Timeouts {
        get { storage?.value.timeouts ?? HTTPRequest.Timeouts() }
        _modify { yield &parts.timeouts }
    }
    /// The validators of the response. Default: `.standard`, which accepts 200 to 299 and the media types that `Accept`
    /// names. `[]` accepts every status.
    public var validators: [ResponseValidator]? {
        get { storage?.value.validators }
        _modify { yield &parts.validators }
    }
    /// The maximum number of attempts, including attempts with a refreshed token. Default: 10. A value below 1 means 1.
    public var maximumAttempts: Int? {
        get { storage?.value.maximumAttempts }
        set { parts.maximumAttempts = newValue }
    }
    /// The maximum size of a response in memory, in bytes after content decoding. Default: 32 MiB. A larger response
    /// ends the call with ``NetworkError/Kind/responseTooLarge``, unless it is received as a file or a stream.
    ///
    /// For each 32 MiB of this size, JSON may have 2,000,000 values. An object counts as eight values, and an array as
    /// two. JSON with more values ends the call with ``NetworkError/Kind/undecodableBody``.
    public var maximumResponseSize: Int? {
        get { storage?.value.maximumResponseSize }
        set { parts.maximumResponseSize = newValue }
    }
    /// The decoder for values in responses. Default: a `JSONDecoder` with Foundation's settings. See ``BodyDecoder``
    /// for formats other than JSON.
    public var decoder: (any BodyDecoder)? {
        get { storage?.value.decoder }
        set { parts.decoder = newValue }
    }
    /// The encoder for values in bodies, unless a body has its own. Default: a `JSONEncoder` with Foundation's
    /// settings.
    public var encoder: (any BodyEncoder)? {
        get { storage?.value.encoder }
        set { parts.encoder = newValue }
    }
    /// The decoder of a call.
    var bodyDecoder: any BodyDecoder { decoder ?? JSONDecoder() }
    /// The encoder of a call.
    var bodyEncoder: any BodyEncoder { encoder ?? JSONEncoder() }

    /// How the call is authorized. The value of the call overrides the value of the endpoint
    /// (``Endpoint/authorizationType``), which overrides the value of the service. Default:
    /// ``AuthorizationType/inherited``. If all three are inherited, the call is not authorized.
    ///
    /// To authorize all calls of a service, except those whose endpoint returns `.none`, set this property for the
    /// service: `$0.settings.authorizationType = .bearer`.
    public var authorizationType = AuthorizationType.inherited
    /// The `Idempotency-Key` of the call. Default: nil, which uses the endpoint's key (``Endpoint/idempotencyKey``).
    /// `IdempotencyKey.none` sends no key.
    public var idempotencyKey: IdempotencyKey? {
        get { storage?.value.idempotencyKey }
        set { parts.idempotencyKey = newValue }
    }
    /// The app's own options. For each option that is not set, the value of the endpoint applies. If the endpoint does
    /// not set it, either, the value of the service applies.
    public var options: HTTPRequest.Options {
        get { storage?.value.options ?? HTTPRequest.Options() }
        _modify { yield &parts.options }
    }

    /// What the call orders from features of the library, for example from the cache. The call's request contains each
    /// order as a part.
    var orders: HTTPRequest.Parts {
        get { storage?.value.orders ?? HTTPRequest.Parts() }
        _modify { yield &parts.orders }
    }

    var sharedEnvironment: CopyOnWrite<NetworkEnvironment>? { storage?.value.environment }

    /// The URL, including the query, to which the call is sent in place of the endpoint's URL; nil for the endpoint's
    /// URL.
    var address: URL? {
        get { storage?.value.address }
        set { parts.address = newValue }
    }

    /// The field with the condition under which the server executes the request. A failure contains the reason why
    /// there is no such field.
    var condition: Result<HTTPHeader, NetworkError>? {
        get { storage?.value.condition?.value }
        set { parts.condition = newValue.map { CopyOnWrite($0) } }
    }

    /// The body that is sent in place of the endpoint's body; nil for the endpoint's body.
    package var body: HTTPBody? {
        get { storage?.value.body }
        set { parts.body = newValue }
    }
    /// Whether the call is never repeated if the server may have executed its request. Default: false.
    package var reportsDoubt: Bool? {
        get { storage?.value.reportsDoubt }
        set { parts.reportsDoubt = newValue }
    }
    /// Whether the call discards the resumable upload of its body, instead of sending the body. Default: false.
    var discardsUpload: Bool? {
        get { storage?.value.discardsUpload }
        set { parts.discardsUpload = newValue }
    }
    /// The meter that counts the bytes of the call. Use a meter for one call only. Default: nil.
    public var progress: RequestProgress.Meter? {
        get { storage?.value.progress }
        set { parts.progress = newValue }
    }

    /// How the call uses its service's cache. Default: ``ResponseCache/Rule/fresh``.
    public var caching: ResponseCache.Rule? {
        get { orders.cache.rule }
        set { orders.order(caching: newValue) }
    }

    /// The policy that applies if an equal request is in progress. Default: the service's policy.
    public var duplicates: DuplicateRequestPolicy? {
        get { orders.duplicates.policy }
        set { orders.order(duplicates: newValue) }
    }

    /// The group of the call. Requests of one group are duplicates of each other even if they differ. Default: nil.
    ///
    /// Use a group together with ``DuplicateRequestPolicy/Choice/replace`` if only the result of the last request is
    /// needed, for example in a search field that sends a request for each change of its text. Requests that are not
    /// equal never share a transfer: with a policy that joins duplicates, each request that differs is sent. Requests
    /// with different credentials are never in the same group. Downloads into files are never in the same group as
    /// other requests.
    public var duplicateGroup: String? {
        get { orders.duplicates.group }
        set { orders.order(duplicateGroup: newValue) }
    }

    /// The redirects that the call follows. Default: the policy of the service (``NetworkConfiguration/redirects``).
    public var redirects: RedirectPolicy? {
        get { orders.redirects.policy }
        set { orders.order(redirects: newValue) }
    }

    /// The kinds of networks that the call may use. Default: all.
    public var networkAccess: NetworkAccess? {
        get { storage?.value.networkAccess }
        set { parts.networkAccess = newValue }
    }

    /// Creates settings with a closure that sets them: `RequestSettings { $0.retry = .standard }`.
    public init(_ set: (inout RequestSettings) -> Void) {
        self.init()
        set(&self)
    }

    /// Creates settings that set nothing: the values of the endpoint or of the service apply.
    public init() {}

    /// Returns these settings. Values that are not set here are taken from `base`.
    func over(_ base: RequestSettings) -> RequestSettings {
        var settings = self
        settings.complete(with: base)
        return settings
    }

    /// Takes the values that are not set here from `base`.
    mutating func complete(with base: RequestSettings) {
        if authorizationType == .inherited { authorizationType = base.authorizationType }
        guard let values = base.storage else { return }
        if storage == nil { storage = values } else { parts.complete(with: values.value) }
    }

    /// Whether both settings have the same values because they share their memory, or because both set nothing. Equal
    /// values do not always share their memory. `authorizationType` is not compared.
    func isShared(with other: RequestSettings) -> Bool {
        guard let storage, let values = other.storage else { return storage == nil && other.storage == nil }
        return storage.isShared(with: values)
    }

    /// Creates the settings of an endpoint from its `settings`, its `idempotencyKey` and its `authorizationType`. Each
    /// property is read once per call.
    init(of endpoint: any Endpoint) {
        self = endpoint.settings
        let key = endpoint.idempotencyKey
        if key != .none { idempotencyKey = key }
        let type = endpoint.authorizationType
        if type != .inherited { authorizationType = type }
    }

    /// The default values, which apply if neither the call nor the endpoint nor the service sets a value.
    static let standard = RequestSettings {
        $0.timeouts = .standard
        $0.validators = .standard
        $0.maximumAttempts = 10
        $0.maximumResponseSize = 32 << 20
        $0.decoder = JSONDecoder()
        $0.encoder = JSONEncoder()
    }
}

extension RequestSettings.Parts {
    /// Takes the values that are not set here from `base`.
    fileprivate mutating func complete(with base: Self) {
        timeouts = timeouts.over(base.timeouts)
        validators = validators ?? base.validators
        maximumAttempts = maximumAttempts ?? base.maximumAttempts
        maximumResponseSize = maximumResponseSize ?? base.maximumResponseSize
        decoder = decoder ?? base.decoder
        encoder = encoder ?? base.encoder
        idempotencyKey = idempotencyKey ?? base.idempotencyKey
        environment = environment ?? base.environment
        options = options.over(base.options)
        progress = progress ?? base.progress
        networkAccess = networkAccess ?? base.networkAccess
        orders = orders.over(base.orders)
        address = address ?? base.address
        condition = condition ?? base.condition
        body = body ?? base.body
        (reportsDoubt, discardsUpload) = (reportsDoubt ?? base.reportsDoubt, discardsUpload ?? base.discardsUpload)
    }
}
