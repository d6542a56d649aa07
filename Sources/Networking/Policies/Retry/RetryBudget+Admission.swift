/// A budget lets every request in, and earns by its success.
extension RetryBudget: AdmissionPolicy {
    /// Lets the request in.
    public func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionTicket? { AdmissionTicket() }

    /// Lets the request in.
    public func enter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionTicket { AdmissionTicket() }

    /// Earns by an answer that is neither an error of the server's nor a request to slow down.
    public func leave(_ ticket: AdmissionTicket, _ outcome: AdmissionOutcome) {
        if case .answered(let response) = outcome, !response.status.isServerError, response.status != .tooManyRequests {
            earn()
        }
    }
}
