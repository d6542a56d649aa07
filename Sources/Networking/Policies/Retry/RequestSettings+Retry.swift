extension RequestSettings {
    /// When a failed request is sent again; left to the next in line, and at last to the service's ``RetryErrorHandler``, unless set.
    public var retry: RetryPolicy? {
        get { options[RetryPolicy.self] }
        set { options.set(RetryPolicy.self, newValue) }
    }

    /// These settings with a retry policy: `RequestSettings().retrying(.standard)`.
    public func retrying(_ policy: RetryPolicy) -> RequestSettings {
        var settings = self
        settings.retry = policy
        return settings
    }
}

extension AdHocEndpoint {
    /// The call with a retry policy.
    public func retrying(_ policy: RetryPolicy) -> AdHocEndpoint { settings(RequestSettings().retrying(policy)) }
}
