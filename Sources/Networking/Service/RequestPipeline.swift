import Foundation

/// The execution of one call, from the endpoint to the response and its value.
///
/// The asynchronous functions that are called in one place are inlined: each function that is not inlined checks at its
/// start, and after each call, on which executor it runs. Other functions with large variables are not inlined, because
/// a call needs the memory of all variables of this function while it waits for its response.
///
/// It is a class, because it is passed to several functions, and a reference is cheap to pass.
final class RequestPipeline: Sendable {
    typealias Outcome = (response: HTTPResponse, record: CallRecord)
    /// Reads a response that is in memory. Returns false if the converter reads a stream, and has to wait.
    typealias ReadingNow = (_ response: HTTPResponse, _ decoder: JSONDecoder) throws -> Bool
    /// Reads a response, and waits for its body.
    typealias Reading = (_ response: HTTPResponse, _ decoder: JSONDecoder) async throws -> Void

    let client: NetworkClient
    let endpoint: any Endpoint
    /// The endpoint's method, which is read once.
    let method: HTTPMethod
    let requirements: ConverterRequirements
    let settings: RequestSettings
    /// Pauses the call; nil if it cannot be paused.
    let pause: PauseGate?

    convenience init(
        _ endpoint: any Endpoint, on client: NetworkClient, for requirements: ConverterRequirements,
        with settings: RequestSettings
    ) {
        self.init(endpoint, endpoint.method, on: client, for: requirements, with: settings)
    }

    init(
        _ endpoint: any Endpoint, _ method: HTTPMethod, on client: NetworkClient,
        for requirements: ConverterRequirements, with settings: RequestSettings, pausedBy pause: PauseGate? = nil
    ) {
        self.endpoint = endpoint
        self.method = method
        self.client = client
        self.requirements = requirements
        self.settings = settings
        self.pause = pause
    }

    /// Sends the request, and sends it again for every retry that the handlers decide on, until the call ends.
    ///
    /// - Throws: ``FailedCall``.
    @inline(__always)
    private func run(_ call: inout RequestCall, readNow: ReadingNow, read: Reading) async throws -> Outcome {
        while true {
            var held: Permit?
            do {
                try call.begin()
                var original = try call.prepare(call.original ?? makeRequest())
                let permit: Permit
                do {
                    let policies = try admission(of: original)
                    switch try Permit.ask(policies, original, for: endpoint) {
                    case .granted(let granted): permit = granted
                    case .refused(let index):
                        permit = try await Permit.wait(for: index, of: policies, original, for: endpoint) {
                            call.noteWait(for: $0)
                        }
                    }
                } catch {
                    try useStoredResponse(to: &original, insteadOf: error)
                    permit = .none
                }
                held = permit
                call.context.permit = permit
                var request = call.beginAdapting(original)
                if try !client.requestAdaptingService.adaptWithoutWaiting(&request, for: endpoint) {
                    try await client.requestAdaptingService.adapt(&request, for: endpoint)
                }
                request = try call.finishAdapting(request)
                let response = try await call.note(recorded(send(request, releasing: permit), to: request))
                try await self.read(response, for: &call, releasing: permit, readNow: readNow, read: read)
                let record = try call.finish(with: response)
                return (response.leavingCall(), record)
            } catch {
                held?.release(.notSent)
                if let failed = await call.recover(from: error, with: client.errorHandlingService) { throw failed }
            }
        }
    }

    /// Returns the policies that admit a request. A call that uses only the cache sends nothing. It waits only until
    /// the token is known, because a stored response belongs to a token.
    ///
    /// - Throws: ``NetworkError/Kind/notCached`` if the call uses only the cache, but the service has no cache.
    private func admission(of request: HTTPRequest) throws -> [any AdmissionPolicy] {
        guard request.parts.cache.rule == .only else { return client.admission }
        guard client.configuration.cache != nil else { throw NetworkError.notCached }
        return client.admission.filter { $0.admissionStage == .token }
    }

    /// Lets the cache respond to a request that cannot be sent now. A request cannot be sent if the circuit breaker is
    /// open, or if the token has expired and its refresh has failed without ending the session.
    ///
    /// - Throws: The error, if the cache may not respond.
    @inline(never)
    private func useStoredResponse(to request: inout HTTPRequest, insteadOf error: any Error) throws {
        guard client.configuration.cache != nil, request.method.isSafe, let known = error as? NetworkError,
            known.kind == .circuitOpen || known.kind == .noToken && !RefreshRejection.isEnd(known.underlying)
        else { throw error }
        request.mustNotBeSent(because: known)
    }

    /// Creates the request of the endpoint.
    func makeRequest() throws -> HTTPRequest {
        if let total = settings.timeouts.total, total <= .zero {
            throw NetworkError(
                .invalidRequest, reason: "total timeout: expected more than zero, found \(total.shortText)")
        }
        var request = try client.makeRequest(endpoint, method, settings)
        requirements.applyHeaders(to: &request)
        return request
    }

    /// Returns the request after its adapters have run and cookies have been added. Does not send it.
    func adaptedRequest() async throws -> HTTPRequest {
        var request = try makeRequest()
        try await client.requestAdaptingService.adapt(&request, for: endpoint)
        return client.withCookies(request)
    }

    /// Returns the request as ``adaptedRequest()`` does, but only synchronous adapters run, without waiting.
    func adaptedRequestNow() throws -> HTTPRequest {
        var request = try makeRequest()
        try client.requestAdaptingService.adaptNow(&request, for: endpoint)
        return client.withCookies(request)
    }

    /// Sends one attempt. The permit is released as soon as the response is known, before it is validated. The permit
    /// of a download into a file is held until the file is in its final location.
    @inline(__always)
    private func send(_ request: HTTPRequest, releasing permit: Permit) async throws -> HTTPResponse {
        let limit = max(settings.maximumResponseSize ?? .max, 0)
        do {
            var response = try await client.transport
                .send(downloading(request), delivering: requirements.target.delivery(limit: limit)).metered()
            if requirements.target == .memory, response.content.isPending(upTo: limit) {
                response = try await response.collected(upTo: limit)
            }
            response = response.decidingRefusal()
            if !holdsPermit(for: response) { permit.release(after: response) }
            return response
        } catch {
            try release(permit, after: error)
            throw error
        }
    }

    /// Returns the request as a download, if the converter writes the response into a file.
    private func downloading(_ request: HTTPRequest) -> HTTPRequest {
        guard let file = requirements.file else { return request }
        var request = request
        request.beginDownload(to: file)
        return request
    }

    /// Releases the permit of a request that failed.
    ///
    /// - Throws: The error for the status of an error page, if the page was too large.
    @inline(never)
    private func release(_ permit: Permit, after error: any Error) throws {
        let refusal = (error as? NetworkError)?.largeRefusal
        permit.release(refusal.map { .responded($0) } ?? .failed(error))
        try refusal?.refused(by: settings.validators ?? .standard)
    }

    /// Notifies the handlers that record responses of the server. If the cache has replaced the server's response with
    /// a stale response, the handlers get the server's response.
    private func recorded(_ response: HTTPResponse, to request: HTTPRequest) -> HTTPResponse {
        guard response.source == .cache else {
            client.errorHandlingService.record(response, to: request)
            return response
        }
        if case .success(let received) = response.replaced {
            client.errorHandlingService.record(received, to: request)
        }
        return response
    }

    /// Whether the call keeps its permit while it reads the response. Only a successful download into a file keeps it.
    private func holdsPermit(for response: HTTPResponse) -> Bool {
        requirements.target == .file && response.status.isSuccessful
    }

    /// Validates a response and converts it.
    @inline(__always)
    private func read(
        _ response: HTTPResponse, for call: inout RequestCall, releasing permit: Permit, readNow: ReadingNow,
        read: Reading
    ) async throws {
        defer { if holdsPermit(for: response) { permit.release(after: response) } }
        do { try response.validated(by: settings.validators ?? .standard) } catch {
            throw await call.rejected(response, error)
        }
        let response = requirements.isDownload ? response : call.leaving(with: response)
        let decoder = settings.decoder ?? JSONDecoder()
        do { if try !readNow(response, decoder) { try await read(response, decoder) } } catch {
            permit.release(.failed(error))
            throw error
        }
    }
}

extension RequestPipeline {
    /// Runs the call in the caller's task and reports its end. If the call is made inside another call, it ends when
    /// the outer call ends.
    ///
    /// - Throws: ``FailedCall``.
    func runReporting(readNow: ReadingNow, read: Reading) async throws -> Outcome {
        let outer = CallScope.current
        let scope = CallScope(deadline: deadline)
        let events = CallEvents.of(endpoint, on: client, in: scope)
        outer?.add(scope)
        defer { outer?.remove(scope) }
        do {
            let outcome = try await run(in: scope, reporting: events, readNow: readNow, read: read)
            events?.finish(with: outcome)
            return outcome
        } catch {
            events?.finish(with: error)
            throw error
        }
    }

    /// Runs the call in the current task and inside its scope. Reports every event except the end of the call.
    ///
    /// - Throws: ``FailedCall``.
    @inline(__always)
    func run(
        in scope: CallScope, reporting events: CallEvents?, readNow: ReadingNow, read: Reading
    ) async throws -> Outcome {
        client.calls.enter(scope, endpoint)
        let meter = settings.progress ?? events?.makeMeter(on: client.clock)
        if let meter { events?.observe(meter) }
        if requirements.target == .stream { meter?.expectStream() }
        var hasResponse = false
        defer {
            scope.detach()
            client.calls.leave(scope)
            meter?.finish(hasResponse: hasResponse)
        }
        let outcome = try await CallPosition.$current.withValue(.inside(scope)) {
            var call = RequestCall(self, in: scope, reporting: events, meter: meter)
            return try await run(&call, readNow: readNow, read: read)
        }
        hasResponse = true
        return outcome
    }

    /// The total deadline of the call, counted from now. A total timeout that is not positive is rejected later, when
    /// the request is created.
    @inline(never)
    var deadline: Deadline? {
        settings.timeouts.total.flatMap { $0 > .zero ? Deadline(after: $0, on: client.clock) : nil }
    }
}

extension NetworkError {
    /// The response of an error page that was too large, with the beginning of its body.
    fileprivate var largeRefusal: HTTPResponse? {
        guard kind == .responseTooLarge, let response else { return nil }
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
