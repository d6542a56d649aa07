/// The rules of a call, from its settings. Calls that set no values of their own share the rules of their client. The
/// rules do not retain the client, because a body that the app reads after the call retains the rules.
final class CallRules: ResponseRules {
    private let validators: [ResponseValidator]
    let maximumSize: Int
    let followsRedirects: Bool
    let reportsDoubt: Bool
    let clock: NetworkClock
    let refusal: RefusalRule?

    init(_ settings: RequestSettings, of configuration: NetworkConfiguration, refusal: RefusalRule?) {
        validators = settings.validators ?? .standard
        maximumSize = settings.maximumResponseSize ?? .max
        followsRedirects = (settings.redirects ?? configuration.redirects).alwaysFollows
        reportsDoubt = settings.reportsDoubt ?? false
        clock = configuration.clock
        self.refusal = refusal
    }

    var accepted: [AcceptedStatuses] { validators.accepted }

    func reject(_ status: HTTPStatus) -> Bool { validators.reject(status) }
}

extension NetworkClient {
    /// Returns the rules of a call: the rules of the client, unless the call has settings of its own.
    func rules(for settings: RequestSettings) -> CallRules {
        if settings.isShared(with: self.settings) { return rules }
        return CallRules(settings, of: configuration, refusal: rules.refusal)
    }
}
