import Foundation

/// The whole life of one call.
struct RequestPipeline<Value: Sendable>: Sendable {
    let client: NetworkClient
    let endpoint: any Endpoint
    let converter: ResponseConverter<Value>
    var settings: RequestSettings

    /// Sends the request, again and again as the handlers want, until there is a value or an error to end with.
    ///
    /// - Parameter call: The call's own state, in the scope of which this runs.
    func run(_ call: inout RequestCall) async throws -> Response<Value> {
        while true {
            do {
                let original = try call.begin { try makeRequest() }
                let permit = try await Permit.enter(client.admission, original, for: endpoint) {
                    call.noteWait(for: $0)
                }
                call.scope.permit = permit
                defer { permit.release(.notSent) }
                let request = try await call.adapt(original, with: client.requestAdaptingService)
                let response = try await call.note(carry(request, giving: permit))
                client.errorHandlingService.record(response)
                let value = try await read(response, for: &call, giving: permit)
                return Response(value, response, record: try call.finish(with: response))
            } catch {
                try await call.recover(from: error, with: client.errorHandlingService)
            }
        }
    }

    /// The endpoint as a request, encoded once.
    private func makeRequest() throws -> HTTPRequest {
        if let total = settings.timeouts.total, total <= .zero {
            throw NetworkError(.invalidRequest, reason: "total timeout: it is not greater than zero")
        }
        var request = try EndpointRequest(endpoint: endpoint, environment: settings.environment ?? client.environment)
            .make(timeouts: settings.timeouts, options: settings.options, random: client.random)
        converter.dress(&request)
        return request
    }

    /// Sends one attempt; the permit is given back as soon as the answer is known, before anybody judges it. Only what comes into a file keeps
    /// its place until it is there.
    private func carry(_ request: HTTPRequest, giving permit: Permit) async throws -> HTTPResponse {
        let limit = max(settings.maximumResponseSize ?? .max, 0)
        do {
            var response = try await converter.carrier(over: client.transport)
                .send(request, answering: converter.delivery.timing(limit: limit)).metered()
            if converter.delivery == .memory, response.content.isPending(upTo: limit) {
                response = try await response.collected(upTo: limit)
            }
            if converter.delivery != .file || !response.status.isSuccessful { permit.release(after: response) }
            return response
        } catch {
            let refusal = (error as? NetworkError)?.largeRefusal
            permit.release(refusal.map { .answered($0) } ?? .failed(error))
            try refusal?.refused(by: settings.validators ?? .standard)
            throw error
        }
    }

    /// Judges an answer, and makes a value of it.
    private func read(
        _ response: HTTPResponse, for call: inout RequestCall, giving permit: Permit
    ) async throws -> Value {
        defer { permit.release(after: response) }
        try await call.judge(response, by: settings.validators ?? .standard)
        do { return try await converter.convert(response, decoder: settings.decoder ?? JSONDecoder()) } catch {
            permit.release(.failed(error))
            throw error
        }
    }
}

extension NetworkError {
    /// An error page that was too large, with its beginning.
    fileprivate var largeRefusal: HTTPResponse? {
        guard kind == .responseTooLarge, let response else { return nil }
        return response.status.isSuccessful || response.status.isRedirection ? nil : response
    }
}

extension HTTPResponse {
    /// Has an error page be known by its status, though it is too large. Where it would be an answer, it must not be one that is cut.
    fileprivate func refused(by validators: [ResponseValidator]) throws {
        do { try validated(by: validators) } catch let error as NetworkError {
            throw error.completed(request: request, response: self)
        }
    }
}

extension RequestPipeline {
    /// Runs in the caller's task, inside a scope that ends the library's waits.
    ///
    /// - Parameters:
    ///   - follow: Is told of each step.
    ///   - holdEnd: Holds back what observers are told of the end.
    func run(
        in scope: CallScope? = nil, telling follow: (@Sendable (RequestEvent) -> Void)? = nil,
        holdingEnd holdEnd: @escaping CallWatch.EndHold = { $0() }
    ) async throws -> Response<Value> {
        let outer = scope == nil ? CallScope.current : nil
        let scope = scope ?? CallScope(deadline: deadline)
        outer?.add(scope)
        client.calls.enter(scope, endpoint)
        let watch = CallWatch(endpoint, of: client, in: scope, following: follow, holdingEnd: holdEnd)
        let meter = settings.progress ?? watch?.makeMeter(on: client.clock)
        if let meter { watch?.observe(meter) }
        if converter.delivery == .stream { meter?.expectStream() }
        var wasAnswered = false
        defer {
            scope.leave()
            outer?.remove(scope)
            client.calls.leave(scope)
            meter?.finish(wasAnswered: wasAnswered)
        }
        let response = try await CallPosition.$current.withValue(.inside(scope)) {
            var call = RequestCall(
                endpoint: endpoint, scope: scope, settings: settings, clock: client.clock, watch: watch, meter: meter)
            return try await run(&call)
        }
        wasAnswered = true
        return response
    }

    /// The call's total deadline, counted from now; one that is not positive is refused when the request is made.
    var deadline: Deadline? {
        settings.timeouts.total.flatMap { $0 > .zero ? Deadline(after: $0, on: client.clock) : nil }
    }
}
