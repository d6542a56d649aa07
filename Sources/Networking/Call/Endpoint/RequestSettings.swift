public import Foundation

/// What can be set for a call, an endpoint and a service; what is nil is left to the next in line, in that order.
///
/// ```swift
/// let feed: Feed = try await service.request(FeedEndpoint.latest, with: RequestSettings(timeouts: .init(total: .seconds(3))))
/// ```
public struct RequestSettings: Sendable {
    /// The environment, as a whole: server, prefix, headers and query; that of the service unless set.
    public var environment: NetworkEnvironment? {
        get { sharedEnvironment?.value }
        set { sharedEnvironment = newValue.map { CopyOnWrite($0) } }
    }
    /// The timeouts; each one is left to the next in line by itself.
    public var timeouts: RequestTimeouts
    /// What judges the answer: `.standard` unless set: 200 to 299, and a media type that your `Accept` names; `[]` lets every status through.
    public var validators: [ResponseValidator]?
    /// How often the request is sent at most, authorization repeats counted: 10 unless set, never less than 1.
    public var maximumAttempts: Int?
    /// How many bytes of an answer are taken into memory at most: 256 MiB unless set.
    public var maximumResponseSize: Int?
    /// What decodes JSON: a decoder with Foundation's settings unless set.
    public var decoder: JSONDecoder?
    /// Where callbacks are called: the main queue unless set. A command-line program must serve its main queue for them to come.
    public var callbackQueue: DispatchQueue?
    // Settings are copied several times a call.
    private(set) var sharedEnvironment: CopyOnWrite<NetworkEnvironment>?
    /// Typed options for adapters, policies, transports and handlers; each one is left to the next in line by itself.
    public var options = RequestOptions()

    /// What counts the bytes of the call; nobody does unless set. A meter serves one call.
    public var progress: ProgressMeter? {
        get { options[ProgressMeter.self] }
        set { options.set(ProgressMeter.self, newValue) }
    }

    /// How the call uses its service's cache: ``CachingRule/standard`` unless set.
    public var caching: CachingRule? {
        get { options[CachingRule.self] }
        set { options.set(CachingRule.self, newValue) }
    }

    /// The kinds of networks that the call may use. Default: all.
    public var networkAccess: NetworkAccess? {
        get { options[NetworkAccess.self] }
        set { options.set(NetworkAccess.self, newValue) }
    }

    /// Makes a set of settings.
    public init(
        timeouts: RequestTimeouts = RequestTimeouts(), validators: [ResponseValidator]? = nil,
        maximumAttempts: Int? = nil, maximumResponseSize: Int? = nil, decoder: JSONDecoder? = nil,
        callbackQueue: DispatchQueue? = nil, environment: NetworkEnvironment? = nil, progress: ProgressMeter? = nil,
        caching: CachingRule? = nil
    ) {
        sharedEnvironment = environment.map { CopyOnWrite($0) }
        self.timeouts = timeouts
        self.validators = validators
        self.maximumAttempts = maximumAttempts
        self.maximumResponseSize = maximumResponseSize
        self.decoder = decoder
        self.callbackQueue = callbackQueue
        if let progress { self.progress = progress }
        if let caching { self.caching = caching }
    }

    /// These settings, with those of `base` where nothing is said here.
    public func over(_ base: RequestSettings) -> RequestSettings {
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
        callbackQueue = callbackQueue ?? base.callbackQueue
        sharedEnvironment = sharedEnvironment ?? base.sharedEnvironment
        options = options.over(base.options)
    }

    /// What holds where nobody says anything.
    public static let standard = RequestSettings(
        timeouts: .standard, validators: .standard, maximumAttempts: 10, maximumResponseSize: 256 << 20,
        decoder: JSONDecoder(), callbackQueue: .main)
}
