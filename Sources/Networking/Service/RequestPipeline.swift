import Foundation

/// The execution of one call, from the endpoint to the value.
struct RequestPipeline<Value: Sendable>: Sendable {
    let client: NetworkClient
    let endpoint: any Endpoint
    let converter: ResponseConverter<Value>
    var settings: CopyOnWrite<RequestSettings>

    /// Sends the request, and sends it again for every retry that the handlers decide on, until the call ends.
    ///
    /// - Throws: ``FailedCall``.
    private func run(_ call: inout RequestCall) async throws -> Response<Value> {
        while true {
            do {
                let original = try call.begin { try makeRequest() }
                let permit = try await Permit.enter(client.admission, original, for: endpoint) {
                    call.noteWait(for: $0)
                }
                call.scope.permit = permit
                defer { permit.release(.notSent) }
                let request = try await call.adapt(original, with: client.requestAdaptingService)
                let response = try await call.note(send(request, releasing: permit))
                client.errorHandlingService.record(response, to: request)
                let value = try await read(response, for: &call, releasing: permit)
                return Response(value, response, record: try call.finish(with: response))
            } catch {
                if let failed = await call.recover(from: error, with: client.errorHandlingService) { throw failed }
            }
        }
    }

    /// Creates the request of the endpoint.
    func makeRequest() throws -> HTTPRequest {
        if let total = settings.value.timeouts.total, total <= .zero {
            throw NetworkError(.invalidRequest, reason: "total timeout: it is not greater than zero")
        }
        var request = try client.makeRequest(endpoint, settings)
        converter.applyHeaders(to: &request)
        return request
    }

    /// Sends one attempt. The permit is released as soon as the response is known, before it is validated. The permit
    /// of a download into a file is held until the file is in its final location.
    private func send(_ request: HTTPRequest, releasing permit: Permit) async throws -> HTTPResponse {
        let limit = max(settings.value.maximumResponseSize ?? .max, 0)
        do {
            var response = try await converter.transport(over: client.transport)
                .send(request, delivering: converter.target.delivery(limit: limit)).metered()
            if converter.target == .memory, response.content.isPending(upTo: limit) {
                response = try await response.collected(upTo: limit)
            }
            if converter.target != .file || !response.status.isSuccessful { permit.release(after: response) }
            return response
        } catch {
            let refusal = (error as? NetworkError)?.largeRefusal
            permit.release(refusal.map { .answered($0) } ?? .failed(error))
            try refusal?.refused(by: settings.value.validators ?? .standard)
            throw error
        }
    }

    /// Validates a response and converts it.
    private func read(
        _ response: HTTPResponse, for call: inout RequestCall, releasing permit: Permit
    ) async throws -> Value {
        defer { permit.release(after: response) }
        try await call.validate(response, by: settings.value.validators ?? .standard)
        let isRead = converter.target != .stream
        let response = isRead ? response : call.mappingErrors(of: response, by: client.errorHandlingService)
        do { return try await converter.convert(response, decoder: settings.value.decoder ?? JSONDecoder()) } catch {
            permit.release(.failed(error))
            throw error
        }
    }
}

extension RequestPipeline {
    /// Runs the call in the caller's task.
    ///
    /// - Throws: The error with which the call ends.
    func run() async throws -> Response<Value> {
        do { return try await runReporting() } catch let failed as FailedCall { throw failed.error }
    }

    /// Runs the call in the caller's task and reports its end. A call that is made inside another call ends with the
    /// outer call.
    ///
    /// - Throws: ``FailedCall``.
    func runReporting() async throws -> Response<Value> {
        let outer = CallScope.current
        let scope = CallScope(deadline: deadline)
        let events = CallEvents(endpoint, of: client, in: scope)
        outer?.add(scope)
        defer { outer?.remove(scope) }
        do {
            let response = try await run(in: scope, reporting: events)
            events?.finish(response.report)
            return response
        } catch {
            if let failed = error as? FailedCall { events?.finish(failed.report) }
            throw error
        }
    }

    /// Runs the call in the current task and inside the scope that ends its waits. It reports every event except the
    /// end of the call.
    ///
    /// - Throws: ``FailedCall``.
    func run(in scope: CallScope, reporting events: CallEvents?) async throws -> Response<Value> {
        client.calls.enter(scope, endpoint)
        let meter = settings.value.progress ?? events?.makeMeter(on: client.clock)
        if let meter { events?.observe(meter) }
        if converter.target == .stream { meter?.expectStream() }
        var wasAnswered = false
        defer {
            scope.detach()
            client.calls.leave(scope)
            meter?.finish(wasAnswered: wasAnswered)
        }
        let response = try await CallPosition.$current.withValue(.inside(scope)) {
            var call = RequestCall(
                endpoint: endpoint, scope: scope, settings: settings, clock: client.clock, events: events,
                meter: meter)
            return try await run(&call)
        }
        wasAnswered = true
        return response
    }

    /// The total deadline of the call, counted from now. A total timeout that is not positive is rejected later, when
    /// the request is created.
    var deadline: Deadline? {
        settings.value.timeouts.total.flatMap { $0 > .zero ? Deadline(after: $0, on: client.clock) : nil }
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
