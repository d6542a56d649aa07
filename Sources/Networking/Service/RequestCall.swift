import Foundation

/// The state of one call across its attempts, and the decision whether to send another attempt.
///
/// Functions that the pipeline calls are not inlined: otherwise, their variables would be part of the memory of each
/// call that waits for its response.
struct RequestCall: Sendable {
    let scope: CallScope
    let pipeline: RequestPipeline
    /// Nil if the call has neither a task nor an observer.
    let events: CallEvents?
    /// How the transfers of the call talk to it.
    let context: TransferContext

    let date: Date
    let begun: Duration
    /// The request before adapters; every attempt begins with it.
    var original: HTTPRequest?
    /// The current attempt; nil before the first attempt and between two attempts.
    var attempt: Attempt?
    /// The attempts that have ended, in order.
    var history: [RequestAttempt] = []

    init(
        _ pipeline: RequestPipeline, in scope: CallScope, reporting events: CallEvents? = nil,
        meter: ProgressMeter? = nil
    ) {
        self.pipeline = pipeline
        self.scope = scope
        self.events = events
        context = TransferContext(
            events: events?.receiver, meter: meter, pause: pipeline.pause,
            isDownload: pipeline.requirements.isDownload, refuses: pipeline.client.refuses)
        scope.permit = context
        date = pipeline.client.clock.date()
        begun = pipeline.client.clock.now()
        events?.report(.started)
    }

    var endpoint: any Endpoint { pipeline.endpoint }
    var settings: RequestSettings { pipeline.settings }
    var clock: NetworkClock { pipeline.client.clock }

    /// Begins an attempt.
    @inline(never)
    mutating func begin() throws {
        try scope.check()
        attempt = Attempt(number: history.count + 1, begun: original == nil ? begun : clock.now())
    }

    /// Prepares the request of the attempt. In the first attempt, this is the request of the endpoint. A handler may
    /// replace the request of the later attempts.
    @inline(never)
    mutating func prepare(_ request: HTTPRequest) throws -> HTTPRequest {
        var request = request
        request.belong(to: context)
        original = request  // before the body is encoded: if that fails, the failure contains the request
        if !request.body.isEncoded {
            request.body = try request.body.encoded(by: settings.encoder ?? JSONEncoder())
            original = request
        }
        if scope.isPartOfRefresh {
            request.admission = .refresh
        } else if scope.isAdmitted, request.admission == .required {
            request.admission = .unlimited
        }
        events?.report(.attemptStarted(history.count + 1, request))
        return request
    }

    /// Reports that the call waits for an admission policy.
    @inline(never)
    func noteWait(for policy: any AdmissionPolicy) {
        events?.report(.waiting(.admission(policy: "\(type(of: policy))")))
    }

    /// Returns the request for the adapters, after the permit has been acquired.
    @inline(never)
    func beginAdapting(_ original: HTTPRequest) -> HTTPRequest {
        if let number = attempt?.number { events?.report(.permitAcquired(attempt: number)) }
        var request = original
        request.headers.reserveCapacity(request.headers.count + 8)  // once, and not again for each adapter
        return request
    }

    /// Records and reports the adapted request, which is sent next.
    @inline(never)
    mutating func finishAdapting(_ adapted: HTTPRequest) throws -> HTTPRequest {
        try scope.check()
        var request = adapted
        if !request.body.isEncoded {
            request.body = try request.body.encoded(by: settings.encoder ?? JSONEncoder())
        }
        attempt?.adapted = request
        let now = clock.now()
        attempt?.handedOver = now
        events?.report(.adapted(request))
        return request
    }

    /// Records and reports the response of the attempt, before it is validated.
    @inline(never)
    mutating func note(_ response: HTTPResponse) -> HTTPResponse {
        attempt?.response = response
        events?.reportHead(of: response)
        return response
    }

    /// Returns the error for a response that a validator has rejected. If the response is streamed, reads up to 1 MiB
    /// of its body and records the response with this part, which is enough to decode an error.
    @inline(never)
    mutating func rejected(_ response: HTTPResponse, _ error: any Error) async -> any Error {
        if case .stream = response.content { attempt?.response = await response.refused() }
        return NetworkError.explained(error, response)
    }

    /// Returns the response as the converter gets it, which may keep it: outside of the call. The errors of a stream are
    /// mapped in the same way as the call's own errors, if they occur after the call has returned.
    @inline(never)
    func leaving(with response: HTTPResponse) -> HTTPResponse {
        var left = response.leavingCall()
        guard pipeline.requirements.target == .stream, case .stream(let body) = left.content else { return left }
        var call = self
        call.attempt?.response = left.withoutStream
        if let adapted = attempt?.adapted { call.attempt?.adapted = adapted.leavingCall() }
        // The body retains the failure and the scope, but not the call, because the call retains the observers.
        let failure = call.failure(with: NetworkError(.unknown))
        let handling = pipeline.client.errorHandlingService
        left.content = .stream(
            body.mappingErrors { [failure, scope, date = clock.date] error in
                guard scope.isOver else { return error }
                let error = (error as? NetworkError)?.leavingCall() ?? error
                let known = NetworkError.described(error, failure.request, failure.response)
                return handling.mapped(afterCall: failure.with(known, at: date()))
            })
        return left
    }

    /// Ends the call with success, unless the call was interrupted before.
    ///
    /// - Returns: The record from which the report of the call is created.
    @inline(never)
    mutating func finish(with response: HTTPResponse) throws -> CallRecord {
        try scope.complete()
        let record = CallRecord(
            call: endpoint, date: date, earlier: history, number: history.count + 1, begun: begun,
            attemptBegun: attempt?.begun ?? begun, handedOver: attempt?.handedOver, ended: clock.now(),
            tokenGeneration: response.request.tokenGeneration)
        events?.report(.attemptEnded(record.attempt(with: response)))
        return record
    }
}
