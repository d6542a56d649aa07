import Foundation

/// The steps of an attempt.
extension RequestPipeline {
    /// Begins an attempt, and returns its request. In the first attempt, this is the request of the endpoint. A handler
    /// may replace the request of the later attempts.
    @inline(never)  // so that its variables need no memory while the call waits for its response
    func begin() throws -> HTTPRequest {
        try scope.check()
        phase = .begun(at: original == nil ? begun : client.clock.now())
        var request = try original ?? makeRequest()
        request.belong(to: context)
        request.number(attempt: history.count + 1)
        original = request  // before the body is encoded: if that fails, the failure contains the request
        try encodeBody(of: &request)
        let discards = settings.discardsUpload ?? false
        if let file = request.body.upload {
            try request.beginUpload(file, discards: discards)
        } else {
            if !history.isEmpty { request.endUpload() }  // a handler has replaced the body
            try NetworkError.require(
                !discards, "upload: expected a resumable body (HTTPBody.resumable), found a body that is not resumable")
        }
        original = request
        if scope.isPartOfRefresh {
            request.admission = .refresh
        } else if scope.isAdmitted, request.admission == .required {
            request.admission = .unlimited
        }
        events?.report(.attemptStarted(history.count + 1, request))
        return request
    }

    /// Creates the request of the endpoint.
    private func makeRequest() throws -> HTTPRequest {
        if let total = settings.timeouts.total, total <= .zero {
            throw NetworkError(
                .invalidRequest,
                reason: "total timeout: expected a duration of more than zero, found \(total.shortText)")
        }
        var request = try client.makeRequest(endpoint, method, settings, inSession: session)
        requirements.applyHeaders(to: &request, decoder: settings.bodyDecoder)
        return request
    }

    private func encodeBody(of request: inout HTTPRequest) throws {
        guard !request.body.isEncoded else { return }
        request.body = try request.body.encoded(by: settings.bodyEncoder)
    }

    /// Waits until the policies admit the request. If the request cannot be sent now, the cache may respond in three
    /// cases: the circuit breaker is open; the host accepts no requests for a long time; the token has expired, and its
    /// refresh has failed without ending the session.
    ///
    /// A call that uses only the cache sends nothing. It waits only until the token is known, because a stored response
    /// belongs to a token.
    func admission(_ request: inout HTTPRequest) async throws -> Admitted {
        do {
            let admitted = try await policies(for: request).enter(request, for: endpoint) { policy in
                events?.report(.waiting(.admission(policy: "\(type(of: policy))")))
            }
            admitted.lend(to: context)
            return admitted
        } catch {
            guard client.configuration.cache != nil, request.method.isSafe, let known = error as? NetworkError,
                [.circuitOpen, .rateLimited].contains(known.kind) || known.kind == .noToken && !known.isLoggedOut
            else { throw error }
            request.mustNotBeSent(because: known)
            return Admitted()
        }
    }

    /// - Throws: ``NetworkError/Kind/notCached`` if the call uses only the cache, but the service has no cache.
    private func policies(for request: HTTPRequest) throws -> Admission {
        guard request.parts.cache.rule == .only else { return client.admission }
        guard client.configuration.cache != nil else { throw NetworkError.notCached }
        return tokenAdmission
    }

    /// The policies that wait for a token.
    private var tokenAdmission: Admission {
        Admission(client.admission.policies.filter { $0.admissionStage == .token })
    }

    /// Adds the default fields of the environment, which adapters may change.
    private func addDefaultHeaders(to request: inout HTTPRequest) {
        request.headers.merge(client.environment(of: settings).value.defaultHeaders, .keepExisting)
    }

    /// The adapters of the service, followed by the call's own adapters, if it has any.
    private var adapting: RequestAdaptingService {
        guard let own = settings.adapters else { return client.requestAdaptingService }
        return client.requestAdaptingService.adding(own)
    }

    /// Runs the adapters on the original request.
    func adapters(_ original: HTTPRequest) async throws -> HTTPRequest {
        events?.report(.permitAcquired(attempt: history.count + 1))
        var request = original
        request.headers.reserveCapacity(request.headers.count + 8)  // once, and not again for each adapter
        addDefaultHeaders(to: &request)
        try await adapting.adapt(&request, for: endpoint)
        try scope.check()
        try encodeBody(of: &request)
        if let file = requirements.download?.value { request.beginDownload(to: file) }
        if original.body.isResumable {
            try NetworkError.require(
                request.body.length == original.body.length,
                "upload: an adapter has changed the length of the body; expected the body of the endpoint, because the upload is resumable"
            )
            request.identifyUpload(to: original.url)
        }
        phase = .sent(request, at: client.clock.now(), begun: phase.begun)
        events?.report(.adapted(request))
        return request
    }

    /// Sends the adapted request. If the converter needs the whole body, the body of the returned response is in
    /// memory.
    func transport(_ request: HTTPRequest) async throws -> HTTPResponse {
        let limit = max(settings.maximumResponseSize ?? .max, 0)
        var response = try await client.transport
            .send(request, delivering: requirements.target.delivery(limit: limit)).metered()
        if requirements.target == .memory, response.content.isPending(upTo: limit) {
            response = try await response.inMemory(upTo: limit)
        }
        response.decideRefusal()
        record(response, to: request)
        answer(with: response)
        events?.reportHead(of: response)
        return response
    }

    /// Notifies the handlers that record responses of the response that the server has sent.
    @inline(never)  // so that the service of the handlers is not copied
    private func record(_ response: HTTPResponse, to request: HTTPRequest) {
        if response.source != .cache {
            client.errorHandlingService.record(response, to: request)
        } else if case .success(let received) = response.replaced {
            client.errorHandlingService.record(received, to: request)  // a stale response has replaced it
        }
    }

    private func answer(with response: HTTPResponse) {
        guard let adapted = phase.adapted, let sent = phase.sent else { return }
        phase = .answered(response, to: adapted, sent: sent, begun: phase.begun)
    }

    /// Validates a response. A response with only a part of the content is never a success, unless the request asks for
    /// a part.
    func validators(_ response: HTTPResponse) throws {
        try response.requireWhole()
        try response.validated(by: settings.validators ?? .standard)
    }

    /// Returns the error for a response that a validator has refused. If the response is a stream, reads its body up to
    /// the limits for bodies of rejected responses. This is enough to decode an error.
    func refused(_ response: HTTPResponse, _ error: any Error) async -> any Error {
        var refused = response
        if case .stream = response.content {
            refused = await response.readingRejectedBody(in: context)
            refused.decideRefusal()  // the body may show the session that its token is refused
            answer(with: refused)
        }
        return NetworkError.noting(cutOffOf: refused, in: NetworkError.explained(error, refused))
    }

    /// Ends the call with success, unless the call was interrupted before.
    ///
    /// - Parameter request: The request as it was sent. It still belongs to the call.
    @inline(never)  // as `begin`
    func finish(with response: HTTPResponse, to request: HTTPRequest) throws -> Outcome {
        try scope.complete()
        var draft = CallReport.Draft(
            endpoint: endpoint, date: date, earlier: history, begun: begun, attemptBegun: phase.begun,
            handedOver: phase.sent, ended: client.clock.now(), tokenGeneration: request.tokenGeneration)
        if let events { events.report(.attemptEnded(draft.reportedAttempt(with: response))) }
        return (response, draft)
    }
}

extension RequestPipeline {
    /// Returns the request after its adapters have run and cookies have been added. Does not send it.
    ///
    /// - Parameter refreshing: Whether the request waits for a valid token.
    func adaptedRequest(refreshing: Bool = false) async throws -> HTTPRequest {
        var request = try makeRequest()
        try NetworkError.require(
            !request.body.isResumable,
            "expected a body without `resumable`, found a resumable body, which only a call can send")
        if scope.isPartOfRefresh { request.admission = .refresh }
        if refreshing { try await tokenAdmission.enter(request, for: endpoint).end(.notSent) }
        if let meter = settings.progress { request.belong(to: TransferContext(meter: meter)) }
        addDefaultHeaders(to: &request)
        try await adapting.adapt(&request, for: endpoint)
        return client.withCookies(request)
    }

    /// Returns the request as ``adaptedRequest()`` does, but without waiting: only synchronous adapters run.
    func adaptedRequestNow() throws -> HTTPRequest {
        var request = try makeRequest()
        addDefaultHeaders(to: &request)
        try adapting.adaptNow(&request, for: endpoint)
        return client.withCookies(request)
    }
}
