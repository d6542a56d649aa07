extension NetworkClient {
    /// The session that adds tokens.
    package var inspectedSession: AccessTokenSupervisor? { session }

    /// The parts of the client that report what they are doing.
    package var inspectableParts: [any InspectablePart] {
        let parts: [Any?] =
            [
                configuration.concurrencyLimit, configuration.backoffGate, configuration.circuitBreaker,
                configuration.retry?.budget, configuration.cache, session,
                configuration.transport ?? PlatformTransport.shared,
            ] + configuration.admissionPolicies
        return parts.compactMap { $0 as? any InspectablePart }
    }
}
