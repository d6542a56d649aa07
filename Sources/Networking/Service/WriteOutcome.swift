package import Foundation

/// What is known about a write after its call has ended.
package enum WriteOutcome: Sendable {
    /// The server has executed the write.
    case executed(HTTPResponse)
    /// The write was refused, by the server or because no request can be sent. A repetition would be refused, too.
    case refused(any Error, HTTPResponse?)
    /// No server has executed the write. A later call may succeed.
    ///
    /// - Parameters:
    ///   - after: The time for which the server asks.
    ///   - isOffline: Whether no server was reached.
    case notNow(any Error, after: Duration?, isOffline: Bool)
    /// Nobody is logged in as the user of the write.
    case noToken(any Error)
    /// The response was lost, so that the server may have executed the write.
    case inDoubt(any Error)

    /// - Parameters:
    ///   - isOver: Whether the session of the call is over.
    ///   - now: The time of the failure.
    init(_ failure: RequestPipeline.Failure, isOver: Bool, at now: Date) {
        let attempt = failure.report.attempts.last
        let known = failure.cause as? NetworkError
        let wasSent = attempt?.queued != nil
        if wasSent, let response = attempt?.response ?? known?.response {
            self = .init(response, failure, known, isOver: isOver, at: now)
        } else if known?.kind == .noToken, known?.isLoggedOut == true {
            self = .noToken(failure.cause)
        } else if let known, [.invalidRequest, .bodyNotEncodable, .bodyUnreadable].contains(known.kind) {
            self = .refused(failure.cause, nil)
        } else if wasSent, known?.isUnsent != true {
            self = .inDoubt(failure.cause)
        } else {
            self = .notNow(failure.cause, after: nil, isOffline: wasSent)
        }
    }

    private init(
        _ response: HTTPResponse, _ failure: RequestPipeline.Failure, _ known: NetworkError?, isOver: Bool, at now: Date
    ) {
        if response.status.isSuccessful, known?.kind.isAboutContent != true {
            self = .executed(response)  // only its body was lost
        } else if response.isRefusal, failure.isRefreshDelayed {
            self = .notNow(failure.cause, after: nil, isOffline: false)
        } else if response.isRefusal, isOver {
            self = .noToken(failure.cause)
        } else if response.status.meansNotNow {
            self = .notNow(failure.cause, after: response.headers.retryDelay(from: now), isOffline: false)
        } else if response.status.isOfGateway {
            self = .inDoubt(failure.cause)
        } else {
            self = .refused(failure.cause, response)
        }
    }
}

extension NetworkError.Kind {
    /// Whether a validator has refused a response.
    fileprivate var isAboutContent: Bool {
        [.unacceptableStatus, .unacceptableMediaType, .invalidResponse].contains(self)
    }
}

/// The session to which a write belongs when it is stored, and when it is sent.
package struct WriteSession: Sendable {
    /// The current token; nil if nobody is logged in, and if the client has no session.
    package let token: AccessToken?
    /// Whether the session is over, so that its user has to log in again.
    package let isOver: Bool
    /// Whether each log-in is another user. If not, all tokens are those of one client, such as an API key.
    package let hasUsers: Bool
    let number: Int?

    /// Whether the client has a session.
    package var hasSession: Bool { number != nil }

    /// Whether a call can be sent with the token.
    package var isUsable: Bool { token != nil && !isOver }

    /// The id of the log-in; nil if nobody is logged in, and if the store does not keep the ids, because the tokens of
    /// several users then have the same id.
    package var user: UUID? { token?.session == AccessToken.unnamedSession ? nil : token?.session }

    /// Returns the session with another token.
    package func with(_ token: AccessToken?) -> WriteSession {
        WriteSession(token: token, isOver: isOver, hasUsers: hasUsers, number: number)
    }
}

extension NetworkClient {
    /// The changes of the token; nil if the client has no session.
    package var tokens: Broadcaster<AccessToken?>? { session?.tokens }

    /// Waits until the token is known.
    ///
    /// - Parameter fetching: Whether the method fetches the first token, if the session gets it from a server.
    /// - Throws: The reason why the token is not known now.
    package func writeSession(fetching: Bool) async throws -> WriteSession {
        guard let session else { return WriteSession(token: nil, isOver: false, hasUsers: false, number: nil) }
        try await session.load()
        if fetching, session.fetchesFirst { _ = try await session.validToken() }
        return session.writeSession
    }

    /// Returns the request of a write before its adapters, with its body encoded.
    package func writeRequest(of endpoint: any Endpoint) throws -> HTTPRequest {
        let settings = resolved(RequestSettings(), for: endpoint)
        return try makeRequest(endpoint, endpoint.method, settings, inSession: sessionNumber)
    }

    /// Whether a write cannot be sent without a token.
    package func needsToken(_ endpoint: any Endpoint) -> Bool {
        session != nil && resolved(RequestSettings(), for: endpoint).authorizationType.needsToken
    }

    /// Makes the call of a write. Its adapters run before the given check, which runs before each attempt.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the write.
    ///   - key: The idempotency key.
    ///   - body: The body in place of the endpoint's body; nil for the endpoint's body.
    ///   - reportsDoubt: Whether the call is not repeated if the server may have executed it.
    ///   - session: The session to which the call belongs.
    ///   - check: Throws an error if the request must not be sent.
    package func write(
        _ endpoint: any Endpoint, key: String, body: HTTPBody?, reportsDoubt: Bool, in session: WriteSession,
        checking check: @escaping @Sendable () throws -> Void
    ) async -> WriteOutcome {
        var settings = resolved(RequestSettings(), for: endpoint)
        settings.idempotencyKey = .value(key)
        settings.body = body
        settings.reportsDoubt = reportsDoubt
        settings.duplicates = .always(.allow)
        // A write of a user is never sent anonymously.
        if session.token != nil { settings.authorizationType = settings.authorizationType.unwrapped.type }
        settings.adapters = (settings.adapters ?? []) + [AdHocAdapter { _, _ in try check() }]
        let converter = ResponseConverter<Data>.data
        let pipeline = RequestPipeline(
            endpoint, on: self, for: converter.requirements, with: settings, inSession: session.number)
        do {
            let outcome = try await pipeline.runReporting { _ = try await converter.reading.convert($0, decoder: $1) }
            return .executed(outcome.response.leavingCall())
        } catch let failure as RequestPipeline.Failure {
            return WriteOutcome(failure, isOver: self.session?.writeSession.isUsable == false, at: clock.date())
        } catch {
            return .inDoubt(error)  // only a `Failure` is thrown
        }
    }
}

extension AccessTokenSupervisor {
    fileprivate var writeSession: WriteSession {
        state.withLock { state in
            WriteSession(
                token: state.machine.token, isOver: state.machine.over != nil, hasUsers: hasUsers,
                number: state.machine.sessionNumber)
        }
    }

    /// Whether the first token has still to be fetched.
    fileprivate var fetchesFirst: Bool {
        state.withLock { $0.machine.form == .fetchesFirst && $0.machine.token == nil }
    }
}

extension AuthorizationType {
    /// Whether a call cannot be sent without a token.
    fileprivate var needsToken: Bool {
        switch self {
        case .basic, .bearer, .custom: true
        case .optional, .none, .inherited: false
        }
    }
}
