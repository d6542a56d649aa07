package import Foundation

/// What is known about a write after its call has ended.
package enum WriteOutcome: Sendable {
    /// The server has executed the write.
    case executed(HTTPResponse)
    /// The server has refused the write, or no request can be sent for the write. A repetition would be refused, too.
    ///
    /// - Parameter mayBeExecuted: Whether the server may nevertheless have executed the write.
    case refused(any Error, HTTPResponse?, mayBeExecuted: Bool)
    /// No server has executed the write. A later call may succeed.
    ///
    /// - Parameters:
    ///   - after: The delay that the server asks for; nil if it asks for none.
    ///   - isOffline: Whether no server was reached.
    case notNow(any Error, after: Duration?, isOffline: Bool)
    /// The user of the write is not logged in.
    case noToken(any Error)
    /// The response was lost, so the server may have executed the write.
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
            self = .refused(failure.cause, nil, mayBeExecuted: false)
        } else if wasSent, known?.isUnsent != true {
            self = .inDoubt(failure.cause)
        } else if !wasSent, known == nil, !failure.isEnded {
            self = .refused(failure.cause, nil, mayBeExecuted: false)  // an adapter has failed
        } else {
            self = .notNow(failure.cause, after: nil, isOffline: known?.isUnprocessed == true && wasSent)
        }
    }

    /// A redirect with 301 or 302 that has changed the method does not show that the write was executed; often, its
    /// target is a log-in page. A server that has executed a write redirects with 303 (RFC 9110 section 15.4.4).
    init(_ response: HTTPResponse, to method: HTTPMethod) {
        let isLedAway = response.redirects.contains { [301, 302].contains($0.status) && $0.request.method == method }
        guard isLedAway, response.request.method != method, let redirect = response.redirects.first else {
            self = .executed(response.leavingCall())
            return
        }
        let error = NetworkError(
            .redirectRefused,
            reason:
                "\(redirect.status) has changed the \(method) to a \(response.request.method); expected 303, 307 or 308",
            request: redirect.request.leavingCall(), response: redirect.leavingCall())
        self = .refused(error, redirect.leavingCall(), mayBeExecuted: true)
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
            self = .refused(failure.cause, response, mayBeExecuted: response.status.mayFollowExecution)
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
    /// The current token; nil if nobody is logged in, or if the client has no session.
    package let token: AccessToken?
    /// Whether the session is over, so that its user has to log in again.
    package let isOver: Bool
    /// Whether each log-in may belong to another user. If false, all tokens belong to one client, as with an API key.
    package let hasUsers: Bool
    /// Whether the token has no session id, or comes from a store that does not keep session ids.
    fileprivate let isUnnamed: Bool
    /// Whether the session has no token yet, and fetches its first token from a server.
    package let mayFetch: Bool
    /// Whether the token is in a store, so that it is known when the process starts.
    package let isStored: Bool
    /// The number of the session; nil if the client has none.
    package let number: Int?

    /// Whether the client has a session.
    package var hasSession: Bool { number != nil }

    /// Whether a call can be sent with the token.
    package var isUsable: Bool { token != nil && !isOver }

    /// The id of the log-in. Nil if nobody is logged in, or if the app or the store does not keep the ids. If ids are
    /// not kept, then after a restart of the process the same user would have another id, or another user would have
    /// the same id.
    package var user: UUID? { isUnnamed ? nil : token?.session }
}

extension NetworkClient {
    /// Whether the client has a session.
    package var hasSession: Bool { session != nil }

    /// The changes of the token; nil if the client has no session.
    package var tokens: Broadcaster<AccessToken?>? { session?.tokens }

    /// Waits until the token is known.
    ///
    /// - Parameter fetching: Whether the method fetches the first token, if the session gets it from a server.
    /// - Throws: The reason why the token is not known now.
    package func writeSession(fetching: Bool) async throws -> WriteSession {
        guard let session else { return currentWriteSession }
        try await session.load()
        if fetching, session.writeSession.mayFetch { _ = try await session.validToken() }
        return session.writeSession
    }

    /// The session as it is now, even if its store has not been read.
    package var currentWriteSession: WriteSession {
        session?.writeSession
            ?? WriteSession(
                token: nil, isOver: false, hasUsers: false, isUnnamed: false, mayFetch: false, isStored: false,
                number: nil)
    }

    /// Returns the request of a write before its adapters, with its body encoded.
    package func writeRequest(of endpoint: any Endpoint) throws -> HTTPRequest {
        let settings = resolved(RequestSettings(), for: endpoint)
        return try makeRequest(endpoint, endpoint.method, settings, inSession: sessionNumber)
    }

    /// Whether a write carries the token if there is a token, and whether the write cannot be sent without a token.
    package func authorization(of endpoint: any Endpoint) -> (sendsToken: Bool, needsToken: Bool) {
        guard session != nil else { return (false, false) }
        let type = resolved(RequestSettings(), for: endpoint).authorizationType
        return (type.asksForToken, type.asksForToken && !type.unwrapped.isOptional)
    }

    /// Makes the call of a write. Before each attempt, the adapters run first, and then `check`.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the write.
    ///   - key: The idempotency key.
    ///   - body: The body in place of the endpoint's body; nil for the endpoint's body.
    ///   - reportsDoubt: If true, the call is not repeated after an attempt that the server may have executed.
    ///   - session: The session to which the call belongs.
    ///   - hasOwner: Whether the write belongs to the user of the session. If not, it carries no token.
    ///   - check: Throws an error if the request must not be sent.
    package func write(
        _ endpoint: any Endpoint, key: String, body: HTTPBody?, reportsDoubt: Bool, in session: WriteSession,
        hasOwner: Bool, checking check: @escaping @Sendable () throws -> Void
    ) async -> WriteOutcome {
        var settings = resolved(RequestSettings(), for: endpoint)
        settings.idempotencyKey = .value(key)
        settings.body = body
        settings.reportsDoubt = reportsDoubt
        settings.duplicates = .always(.allow)
        // A write of a user is never sent anonymously, and a write without a user is never sent as a user.
        if hasOwner {
            settings.authorizationType = settings.authorizationType.unwrapped.type
        } else if session.hasSession {
            settings.authorizationType = .none
        }
        let last = AdHocAdapter { request, _ in
            try check()
            request.headers[.idempotencyKey] = key  // in place of a field of the endpoint
        }
        settings.adapters = (settings.adapters ?? []) + [last]
        let converter = ResponseConverter<Data>.data
        let pipeline = RequestPipeline(
            endpoint, on: self, for: converter.requirements, with: settings, inSession: session.number)
        do {
            let outcome = try await pipeline.runReporting { _ = try await converter.reading.convert($0, decoder: $1) }
            return WriteOutcome(outcome.response, to: pipeline.method)
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
            let machine = state.machine
            return WriteSession(
                token: machine.token, isOver: machine.over != nil, hasUsers: hasUsers,
                isUnnamed: [AccessToken.unnamedSession, unnamed].contains(machine.token?.session),
                mayFetch: machine.form == .fetchesFirst && machine.token == nil, isStored: store != nil,
                number: machine.sessionNumber)
        }
    }
}
