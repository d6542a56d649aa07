/// Holds authorized requests back while the token is refreshed, and has one that is about to expire refreshed before it is sent.
///
/// It also hears of each refusal, before the place of the refused request is handed on.
public struct TokenGate: AdmissionPolicy {
    private let supervisor: AccessTokenSupervisor

    init(supervisor: AccessTokenSupervisor) {
        self.supervisor = supervisor
    }

    /// The last of all.
    public var stage: AdmissionStage { .token }

    /// Lets the request in where the token can be sent, or where it needs none.
    public func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionTicket? {
        endpoint.authorizationType == .none || supervisor.mayPass ? AdmissionTicket() : nil
    }

    /// Waits for a token that can be sent.
    ///
    /// - Throws: ``NetworkError/Kind/noToken`` with the refresh's error underlying.
    public func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionTicket {
        guard endpoint.authorizationType != .none else { return AdmissionTicket() }
        do {
            try await supervisor.waitToPass()
        } catch let interruption as Interruption {
            throw interruption
        } catch {
            throw NetworkError(.noToken, request: request, underlying: error)
        }
        return AdmissionTicket()
    }

    /// Hears whether the server refused the token.
    public func leave(_ ticket: AdmissionTicket, _ outcome: AdmissionOutcome) {
        if case .answered(let response) = outcome { _ = supervisor.judge(response) }
    }
}
