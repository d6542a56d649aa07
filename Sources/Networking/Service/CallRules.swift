/// The part of a call's rules that is the same for all calls of a client.
struct SharedRules: Sendable {
    let clock: NetworkClock
    let followsRedirects: Bool
    var reportsDoubt = false
}

extension NetworkClient {
    /// Returns the rules of a call: the rules of the client, unless the call has rules of its own.
    fileprivate func rules(for settings: RequestSettings) -> CopyOnWrite<SharedRules> {
        guard settings.redirects != nil || settings.reportsDoubt == true else { return sharedRules }
        let follows = settings.redirects?.alwaysFollows ?? sharedRules.value.followsRedirects
        return CopyOnWrite(
            SharedRules(clock: clock, followsRedirects: follows, reportsDoubt: settings.reportsDoubt ?? false))
    }
}

/// The decisions of a call that need only the head of a response: whether the validators accept the status, and whether
/// a redirect is followed.
struct CallRules: StatusRules {
    let validators: [ResponseValidator]
    let maximumSize: Int
    // These three words fit into an existential without an allocation. The rules do not retain the client, because a
    // body that the app reads after the call retains the rules.
    let shared: CopyOnWrite<SharedRules>

    init(_ settings: RequestSettings, of client: NetworkClient) {
        validators = settings.validators ?? .standard
        maximumSize = settings.maximumResponseSize ?? .max
        shared = client.rules(for: settings)
    }

    var accepted: [AcceptedStatuses] { validators.accepted }
    var followsRedirects: Bool { shared.value.followsRedirects }
    var reportsDoubt: Bool { shared.value.reportsDoubt }
    var clock: NetworkClock { shared.value.clock }

    func reject(_ status: HTTPStatus) -> Bool { validators.reject(status) }
}
