public import Foundation

/// What can be set for a call, its endpoint and its service. What is nil for the call is left to the endpoint, and
/// then to the service.
///
/// ```swift
/// let feed: Feed = try await service.request(FeedEndpoint.latest, with: RequestSettings { $0.timeouts.total = .seconds(3) })
/// ```
public struct RequestSettings: Sendable {
    /// The environment as a whole: server, prefix, headers and query. Default: the service's.
    public var environment: NetworkEnvironment? {
        get { sharedEnvironment?.value }
        set { sharedEnvironment = newValue.map { CopyOnWrite($0) } }
    }
    /// The timeouts. Each one that is nil is left to the next in line.
    public var timeouts: HTTPRequest.Timeouts
    /// Judge the response. Default: `.standard`, which accepts 200 to 299 and the media types that `Accept` names. `[]`
    /// accepts every status.
    public var validators: [ResponseValidator]?
    /// How often the request is sent at most, repeats with another token included. Default: 10; never less than 1.
    public var maximumAttempts: Int?
    /// How many bytes of a response are read into memory at most. Default: 256 MiB.
    public var maximumResponseSize: Int?
    /// Decodes JSON. Default: a decoder with Foundation's settings.
    public var decoder: JSONDecoder?
    /// Encodes JSON, unless a body has an encoder of its own. Default: an encoder with Foundation's settings.
    public var encoder: JSONEncoder?
    /// How the call is authorized. That of the call precedes the endpoint's (``Endpoint/authorizationType``), and
    /// that precedes the service's. Default: ``AuthorizationType/inherited``; if all of them are, the call is not
    /// authorized.
    ///
    /// Set it for a service whose calls carry a token unless their endpoints say `.none`:
    /// `$0.settings.authorizationType = .bearer`.
    public var authorizationType = AuthorizationType.inherited
    /// Whether the call carries an `Idempotency-Key`. Nil, the default: what its endpoint says
    /// (``Endpoint/idempotencyKey``). `IdempotencyKey.none` sends none.
    public var idempotencyKey: IdempotencyKey?
    // Settings are copied several times a call.
    private(set) var sharedEnvironment: CopyOnWrite<NetworkEnvironment>?
    /// Options of the app's own. Each one that is not set is left to the next in line.
    public var options = HTTPRequest.Options()

    /// Counts the bytes of the call. A meter serves one call. Default: nil.
    public var progress: ProgressMeter? {
        get { options[ProgressOption.self] }
        set { options.set(ProgressOption.self, newValue) }
    }

    /// How the call uses its service's cache. Default: ``ResponseCache/Rule/standard``.
    public var caching: ResponseCache.Rule? {
        get { options[CachingOption.self] }
        set { options.set(CachingOption.self, newValue) }
    }

    /// What happens if an equal request is in progress. Default: the service's policy.
    public var duplicates: DuplicateRequestPolicy? {
        get { options[DuplicatesOption.self] }
        set { options.set(DuplicatesOption.self, newValue) }
    }

    /// Requests of one group are duplicates of each other although they differ. Default: nil.
    ///
    /// It is for requests of which only the last counts, such as search as you type, with
    /// ``DuplicateRequestPolicy/replace``. A transfer is never shared by requests that are not equal: a policy that
    /// asks for that has both sent. Requests with different credentials are never of one group, and downloads into
    /// files form groups of their own.
    public var duplicateGroup: String? {
        get { options[DuplicateGroupOption.self] }
        set { options.set(DuplicateGroupOption.self, newValue) }
    }

    /// The kinds of networks that the call may use. Default: all.
    public var networkAccess: NetworkAccess? {
        get { options[NetworkAccessOption.self] }
        set { options.set(NetworkAccessOption.self, newValue) }
    }

    /// Makes settings by setting them: `RequestSettings { $0.retry = .standard }`.
    public init(_ set: (inout RequestSettings) -> Void) {
        self.init()
        set(&self)
    }

    /// Makes settings of the most frequent ones. Each one that is not given is left to the next in line.
    public init(
        timeouts: HTTPRequest.Timeouts = HTTPRequest.Timeouts(), validators: [ResponseValidator]? = nil,
        maximumAttempts: Int? = nil, decoder: JSONDecoder? = nil, environment: NetworkEnvironment? = nil
    ) {
        sharedEnvironment = environment.map { CopyOnWrite($0) }
        self.timeouts = timeouts
        self.validators = validators
        self.maximumAttempts = maximumAttempts
        self.decoder = decoder
    }

    /// These settings, with those of `base` for what is not set here.
    func over(_ base: RequestSettings) -> RequestSettings {
        var settings = self
        settings.complete(with: base)
        return settings
    }

    /// Takes from `base` what is not set here.
    mutating func complete(with base: RequestSettings) {
        timeouts = timeouts.over(base.timeouts)
        validators = validators ?? base.validators
        maximumAttempts = maximumAttempts ?? base.maximumAttempts
        maximumResponseSize = maximumResponseSize ?? base.maximumResponseSize
        decoder = decoder ?? base.decoder
        encoder = encoder ?? base.encoder
        if authorizationType == .inherited { authorizationType = base.authorizationType }
        idempotencyKey = idempotencyKey ?? base.idempotencyKey
        sharedEnvironment = sharedEnvironment ?? base.sharedEnvironment
        options = options.over(base.options)
    }

    /// The settings of an endpoint, with what it says in properties of its own. Each is read once a call.
    init(of endpoint: any Endpoint) {
        self = endpoint.settings
        let key = endpoint.idempotencyKey
        if key != .none { idempotencyKey = key }
        let type = endpoint.authorizationType
        if type != .inherited { authorizationType = type }
    }

    /// What holds if nothing is set.
    static let standard = RequestSettings {
        $0.timeouts = .standard
        $0.validators = .standard
        $0.maximumAttempts = 10
        $0.maximumResponseSize = 256 << 20
        $0.decoder = JSONDecoder()
        $0.encoder = JSONEncoder()
    }
}
