import Foundation

/// One call, from its endpoint to the response and its value. It is used by one task, and once.
///
/// Each attempt waits for its admission, holding nothing. Then its adapters change the original request, so that a retry
/// carries the new token; the transport sends it; the validators check the response, and the converter reads it. If
/// anything fails, the error handlers decide whether another attempt follows.
final class RequestPipeline {
    typealias Outcome = (response: HTTPResponse, record: CallRecord)
    /// Reads a response, and waits for its body.
    typealias Reading = (_ response: HTTPResponse, _ decoder: JSONDecoder) async throws -> Void

    /// The end of a failed call.
    struct Failure: Error {
        /// The error that the caller gets.
        let error: any Error
        let report: CallReport
    }

    /// What the current attempt has reached.
    enum Phase {
        /// There is no attempt: the call has not begun, or it is between two attempts.
        case idle
        /// The attempt waits for its admission, or its adapters run.
        case begun(at: Duration)
        /// The adapted request was handed to the transport.
        case sent(HTTPRequest, at: Duration, begun: Duration)
        /// The transport has returned a response to the adapted request.
        case answered(HTTPResponse, to: HTTPRequest, sent: Duration, begun: Duration)
    }

    let client: NetworkClient
    let endpoint: any Endpoint
    /// The endpoint's method, which is read once.
    let method: HTTPMethod
    let requirements: ConverterRequirements
    let settings: RequestSettings
    let scope: CallScope
    /// Nil if the call has neither a task nor an observer.
    let events: CallEvents?
    /// How the transfers of the call talk to it.
    let context: TransferContext

    let date: Date
    let begun: Duration
    /// The request before adapters, with which every attempt begins.
    var original: HTTPRequest?
    var phase = Phase.idle
    /// The attempts that have ended, in order.
    var history: [RequestAttempt] = []

    /// - Parameters:
    ///   - settings: The settings of the call, which include those of the endpoint and the service.
    ///   - track: The track of the call's task; nil if the call has no task.
    ///   - scope: The scope of the call. Default: a new one.
    init(
        _ endpoint: any Endpoint, _ method: HTTPMethod, on client: NetworkClient,
        for requirements: ConverterRequirements, with settings: RequestSettings, track: CallTrack? = nil,
        in scope: CallScope? = nil
    ) {
        self.endpoint = endpoint
        self.method = method
        self.client = client
        self.requirements = requirements
        self.settings = settings
        // A total timeout that is not positive is rejected later, when the request is created.
        let total = settings.timeouts.total.flatMap { $0 > .zero ? Deadline(after: $0, on: client.clock) : nil }
        self.scope = scope ?? CallScope(deadline: total)
        events = CallEvents.of(endpoint, on: client, in: self.scope, for: track)
        context = TransferContext(
            events: events?.receiver, meter: track?.meter ?? settings.progress ?? events?.makeMeter(on: client.clock),
            pause: track?.pauseGate, isDownload: requirements.isDownload, refuses: client.refuses)
        self.scope.admission = context
        date = client.clock.date()
        begun = client.clock.now()
    }

    /// Runs the call in the caller's task and reports its end. If the call is made inside another call, it ends when
    /// the outer call ends.
    ///
    /// - Throws: ``Failure``.
    func runReporting<Value>(_ converter: ResponseConverter<Value>) async throws -> Response<Value> {
        let outer = CallScope.current
        outer?.add(scope)
        defer { outer?.remove(scope) }
        do {
            let response = try await run(converter)
            events?.finish(response.report)
            return response
        } catch {
            if let failure = error as? Failure { events?.finish(failure.report) }
            throw error
        }
    }

    /// Runs the call in the current task. Reports every event except the end of the call.
    ///
    /// - Throws: ``Failure``.
    func run<Value>(_ converter: ResponseConverter<Value>) async throws -> Response<Value> {
        var value: Value?
        let (response, record) = try await attempts { value = try await converter.convert($0, decoder: $1) }
        // The call has an outcome only after the response was read, so there is a value.
        guard let value else { throw NetworkError(.unknown) }
        return Response(value, response, record: record)
    }

    /// Makes attempts until the call ends, inside of its scope.
    private func attempts(_ read: Reading) async throws -> Outcome {
        client.calls.enter(scope, endpoint)
        if let meter = context.meter { events?.observe(meter) }
        if requirements.target == .stream { context.meter?.expectStream() }
        events?.report(.started)
        var hasResponse = false
        defer {
            scope.detach()
            client.calls.leave(scope)
            context.meter?.finish(hasResponse: hasResponse)
        }
        let outcome = try await CallPosition.$current.withValue(.inside(scope)) {
            while true {
                do { return try await attempt(read) } catch {
                    if let failure = await recover(from: error) { throw failure }
                }
            }
        }
        hasResponse = true
        return outcome
    }

    /// Makes one attempt.
    private func attempt(_ read: Reading) async throws -> Outcome {
        var original = try begin()
        let admitted = try await admission(&original)
        let (request, response): (HTTPRequest, HTTPResponse)
        do { request = try await adapters(original) } catch {
            admitted.end(.notSent)
            throw error
        }
        do { response = try await transport(request) } catch {
            admitted.end(error.largeRefusal.map { .responded($0) } ?? .failed(error))
            try error.largeRefusal?.refused(by: settings.validators ?? .standard)
            throw error
        }
        guard requirements.target == .file, response.status.isSuccessful else {
            admitted.end(.after(response))
            try await validators(response)
            try await converter(response, read)
            return try finish(with: response)
        }
        // The permits are held until the file is complete.
        do { try await validators(response) } catch {
            admitted.end(.after(response))
            throw error
        }
        do { try await converter(response, read) } catch {
            admitted.end(.failed(error))
            throw error
        }
        admitted.end(.after(response))
        return try finish(with: response)
    }
}

/// The steps of an attempt.
extension RequestPipeline {
    /// Begins an attempt, and returns its request. In the first attempt, this is the request of the endpoint. A handler
    /// may replace the request of the later attempts.
    private func begin() throws -> HTTPRequest {
        try scope.check()
        phase = .begun(at: original == nil ? begun : client.clock.now())
        var request = try original ?? makeRequest()
        request.belong(to: context)
        original = request  // before the body is encoded: if that fails, the failure contains the request
        try encodeBody(of: &request)
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
                .invalidRequest, reason: "total timeout: expected more than zero, found \(total.shortText)")
        }
        var request = try client.makeRequest(endpoint, method, settings)
        requirements.applyHeaders(to: &request)
        return request
    }

    private func encodeBody(of request: inout HTTPRequest) throws {
        guard !request.body.isEncoded else { return }
        request.body = try request.body.encoded(by: settings.encoder ?? JSONEncoder())
    }

    /// Waits until the policies admit the request. If it cannot be sent now, because the circuit breaker is open, or
    /// because the token has expired and its refresh has failed without ending the session, the cache may respond.
    ///
    /// A call that uses only the cache sends nothing. It waits only until the token is known, because a stored response
    /// belongs to a token.
    private func admission(_ request: inout HTTPRequest) async throws -> Admitted {
        do {
            let admitted = try await policies(for: request).enter(request, for: endpoint) { policy in
                events?.report(.waiting(.admission(policy: "\(type(of: policy))")))
            }
            admitted.lend(to: context)
            return admitted
        } catch {
            guard client.configuration.cache != nil, request.method.isSafe, let known = error as? NetworkError,
                known.kind == .circuitOpen || known.kind == .noToken && !RefreshRejection.isEnd(known.underlying)
            else { throw error }
            request.mustNotBeSent(because: known)
            return Admitted()
        }
    }

    /// - Throws: ``NetworkError/Kind/notCached`` if the call uses only the cache, but the service has no cache.
    private func policies(for request: HTTPRequest) throws -> Admission {
        guard request.parts.cache.rule == .only else { return client.admission }
        guard client.configuration.cache != nil else { throw NetworkError.notCached }
        return Admission(client.admission.policies.filter { $0.admissionStage == .token })
    }

    /// Runs the adapters on the original request.
    private func adapters(_ original: HTTPRequest) async throws -> HTTPRequest {
        events?.report(.permitAcquired(attempt: history.count + 1))
        var request = original
        request.headers.reserveCapacity(request.headers.count + 8)  // once, and not again for each adapter
        try await client.requestAdaptingService.adapt(&request, for: endpoint)
        try scope.check()
        try encodeBody(of: &request)
        if let file = requirements.file { request.beginDownload(to: file) }
        phase = .sent(request, at: client.clock.now(), begun: phase.begun)
        events?.report(.adapted(request))
        return request
    }

    /// Sends the adapted request. A response for a converter that needs the whole body is in memory.
    private func transport(_ request: HTTPRequest) async throws -> HTTPResponse {
        let limit = max(settings.maximumResponseSize ?? .max, 0)
        var response = try await client.transport
            .send(request, delivering: requirements.target.delivery(limit: limit)).metered()
        if requirements.target == .memory, response.content.isPending(upTo: limit) {
            response = try await response.collected(upTo: limit)
        }
        response = response.decidingRefusal()
        if response.source != .cache {
            client.errorHandlingService.record(response, to: request)
        } else if case .success(let received) = response.replaced {
            client.errorHandlingService.record(received, to: request)  // a stale response has replaced it
        }
        answer(with: response)
        events?.reportHead(of: response)
        return response
    }

    private func answer(with response: HTTPResponse) {
        guard let adapted = phase.adapted, let sent = phase.sent else { return }
        phase = .answered(response, to: adapted, sent: sent, begun: phase.begun)
    }

    /// Validates a response.
    private func validators(_ response: HTTPResponse) async throws {
        do { try response.validated(by: settings.validators ?? .standard) } catch {
            if case .stream = response.content { answer(with: await response.refused()) }
            throw NetworkError.explained(error, response)
        }
    }

    /// Reads a response. The converter gets it outside of the call, because it may keep it; a download needs its part
    /// until the file is complete.
    private func converter(_ response: HTTPResponse, _ read: Reading) async throws {
        try await read(requirements.isDownload ? response : leaving(with: response), settings.decoder ?? JSONDecoder())
    }

    /// Ends the call with success, unless the call was interrupted before.
    private func finish(with response: HTTPResponse) throws -> Outcome {
        try scope.complete()
        let record = CallRecord(
            call: endpoint, date: date, earlier: history, number: history.count + 1, begun: begun,
            attemptBegun: phase.begun, handedOver: phase.sent, ended: client.clock.now(),
            tokenGeneration: response.request.tokenGeneration)
        let response = response.leavingCall()
        events?.report(.attemptEnded(record.attempt(with: response)))
        return (response, record)
    }
}

extension RequestPipeline {
    /// Returns the request after its adapters have run and cookies have been added. Does not send it.
    func adaptedRequest() async throws -> HTTPRequest {
        var request = try makeRequest()
        if let meter = settings.progress { request.belong(to: TransferContext(meter: meter)) }
        try await client.requestAdaptingService.adapt(&request, for: endpoint)
        return client.withCookies(request)
    }

    /// Returns the request as ``adaptedRequest()`` does, but only synchronous adapters run, without waiting.
    func adaptedRequestNow() throws -> HTTPRequest {
        var request = try makeRequest()
        try client.requestAdaptingService.adaptNow(&request, for: endpoint)
        return client.withCookies(request)
    }
}

extension Error {
    /// The response of an error page that was too large, with the beginning of its body.
    fileprivate var largeRefusal: HTTPResponse? {
        guard let error = self as? NetworkError, error.kind == .responseTooLarge, let response = error.response else {
            return nil
        }
        return response.status.isSuccessful || response.status.isRedirection ? nil : response
    }
}

extension HTTPResponse {
    /// Throws the error for the status of an error page, although the page was too large.
    fileprivate func refused(by validators: [ResponseValidator]) throws {
        do { try validated(by: validators) } catch let error as NetworkError {
            throw error.completed(request: request, response: self)
        }
    }
}
