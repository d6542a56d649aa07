import Foundation

/// The state of one call across its attempts, and the decision whether to send another attempt.
struct RequestCall: Sendable {
    let scope: CallScope
    private let pipeline: RequestPipeline
    /// Nil if the call has neither a task nor an observer.
    private let events: CallEvents?
    private let meter: ProgressMeter?

    private let date: Date
    private let begun: Duration
    /// The request before adapters; every attempt begins with it.
    private(set) var original: HTTPRequest?
    /// The current attempt; nil before the first attempt and between two attempts.
    private var attempt: Attempt?
    /// The attempts that have ended, in order.
    private var history: [RequestAttempt] = []

    init(
        _ pipeline: RequestPipeline, in scope: CallScope, reporting events: CallEvents? = nil,
        meter: ProgressMeter? = nil
    ) {
        self.pipeline = pipeline
        self.scope = scope
        self.events = events
        self.meter = meter
        date = pipeline.client.clock.date()
        begun = pipeline.client.clock.now()
        events?.report(.started)
    }

    private var endpoint: any Endpoint { pipeline.endpoint }
    private var settings: RequestSettings { pipeline.settings }
    private var clock: NetworkClock { pipeline.client.clock }

    // MARK: An attempt

    /// Begins an attempt.
    mutating func begin() throws {
        try scope.check()
        attempt = Attempt(number: history.count + 1, begun: original == nil ? begun : clock.now())
    }

    /// Prepares the request of the attempt. In the first attempt, this is the request of the endpoint. A handler may
    /// replace the request of the later attempts.
    mutating func prepare(_ request: HTTPRequest) throws -> HTTPRequest {
        var request = request
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
        if let events {
            if let meter { request[option: ProgressOption.self] = meter }
            request[option: RequestWatch.self] = events.watch
            events.report(.attemptStarted(history.count + 1, request))
        }
        return request
    }

    /// Reports that the call waits for an admission policy.
    func noteWait(for policy: any AdmissionPolicy) {
        events?.report(.waiting(.admission(policy: "\(type(of: policy))")))
    }

    /// Returns the request for the adapters, after the permit has been acquired.
    func beginAdapting(_ original: HTTPRequest) -> HTTPRequest {
        if let number = attempt?.number { events?.report(.permitAcquired(attempt: number)) }
        var request = original
        request.headers.reserveCapacity(request.headers.count + 8)  // once, and not again for each adapter
        return request
    }

    /// Records and reports the adapted request, which is sent next.
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
    mutating func note(_ response: HTTPResponse) -> HTTPResponse {
        attempt?.response = response
        events?.reportHead(of: response)
        return response
    }

    /// Returns the error for a response that a validator has rejected. If the response is streamed, reads up to 1 MiB
    /// of its body and records the response with this part, which is enough to decode an error.
    mutating func rejected(_ response: HTTPResponse, _ error: any Error) async -> any Error {
        if case .stream = response.content { attempt?.response = await response.refused() }
        return NetworkError.explained(error, response)
    }

    /// Returns the response with a body whose errors are mapped in the same way as the call's own errors. The mapping
    /// applies to errors that occur after the call has returned.
    func mappingErrors(of response: HTTPResponse, by handling: ErrorHandlingService) -> HTTPResponse {
        guard case .stream(let body) = response.content else { return response }
        var call = self
        call.attempt?.response = response.withoutStream
        // The body retains the failure and the scope, but not the call, because the call retains the observers.
        let failure = call.failure(with: NetworkError(.unknown))
        var response = response
        response.content = .stream(
            body.mappingErrors { [failure, scope, date = clock.date] error in
                scope.isOver
                    ? handling.mapped(
                        afterCall: failure.with(
                            NetworkError.described(error, failure.request, failure.response), at: date())) : error
            })
        return response
    }

    /// Ends the call with success, unless the call was interrupted before.
    ///
    /// - Returns: The record from which the report of the call is created.
    mutating func finish(with response: HTTPResponse) throws -> CallRecord {
        try scope.complete()
        let record = CallRecord(
            call: endpoint, date: date, earlier: history, number: history.count + 1, begun: begun,
            attemptBegun: attempt?.begun ?? begun, handedOver: attempt?.handedOver, ended: clock.now())
        events?.report(.attemptEnded(record.attempt(with: response)))
        return record
    }

    // MARK: After a failure

    /// Lets the error handlers decide about a failed attempt.
    ///
    /// - Returns: The failure of the call; nil if the request has to be sent again.
    mutating func recover(from error: any Error, with handling: ErrorHandlingService) async -> FailedCall? {
        do {
            try scope.check()
            if try await waitedWhilePaused() { return nil }
            let (verdict, failure) = await verdict(on: error, from: handling)
            try scope.check()
            switch verdict {
            case .fail(let error):
                try scope.complete()
                return failed(with: error, of: failure, handling, after: history.last?.decision)
            case .retry(let delay, let request):
                if let request { replace(with: request) }
                if let decision = history.last?.decision { events?.report(.waiting(.retry(after: delay, decision))) }
                try await clock.wait(for: delay)
                return nil
            }
        } catch {
            return await interrupted(handling)  // only interruptions are thrown here
        }
    }

    /// Returns the handlers' decision about a failed attempt, and adds the attempt with their decisions to the history.
    private mutating func verdict(
        on error: any Error, from handling: ErrorHandlingService
    ) async -> (ErrorHandlingService.Verdict, RequestFailure) {
        if let known = error as? NetworkError { attempt?.note(known) }
        var failure = failure(with: error)
        end(failure.error)
        let verdict = await handling.verdict(on: &failure, isInterrupted: { scope.interruption != nil })
        history[history.count - 1].decisions = failure.decisions
        return (verdict, failure)
    }

    /// Replaces the request of the next attempts with the request of a handler. The new request belongs to the same
    /// call.
    private mutating func replace(with request: HTTPRequest) {
        var next = original.map { request.replacing($0) } ?? request
        if let session = original?[attachment: CallSession.self] { next[attachment: CallSession.self] = session }
        if next[option: UnsentOption.self] != nil { next[option: UnsentOption.self] = nil }
        original = next
    }

    /// Waits until a pause is over, if a pause has ended the attempt. A paused attempt does not count.
    ///
    /// - Returns: Whether a pause ended the attempt.
    private mutating func waitedWhilePaused() async throws -> Bool {
        guard let pause = settings.options[PauseOption.self], pause.takeInterruption() else { return false }
        attempt = nil
        events?.report(.waiting(.paused))
        try await pause.resumed()
        return true
    }

    /// Ends a call that was cancelled, reset or timed out by its deadline. The handlers map its error, but no retry
    /// follows.
    mutating func interrupted(_ handling: ErrorHandlingService) async -> FailedCall {
        attempt?.response = nil  // it is not the reason why the call ends
        let isWaiting = attempt == nil && history.last?.decision?.delay != nil
        if isWaiting { history[history.count - 1].decisions = [.endedWhileWaiting] }
        var failure = failure(with: ending)
        if attempt != nil { end(failure.error) }
        let verdict = await handling.verdict(on: &failure, isInterrupted: { false })
        guard case .fail(let error) = verdict else { return failed(with: failure.error, of: failure, handling) }
        return failed(with: error, of: failure, handling)
    }

    /// The error with which the call has to end.
    private var ending: any Error {
        let interruption = scope.interruption ?? .cancelled
        guard interruption == .deadlineExceeded, let total = settings.timeouts.total else { return interruption }
        return NetworkError(.deadlineTimedOut, reason: "the call did not end within \(total.shortText)")
    }

    /// Adds the current attempt to the history as failed with an error, and reports it.
    private mutating func end(_ error: any Error) {
        let attempt = attempt ?? Attempt(number: history.count + 1, begun: clock.now())
        let ended = attempt.ended(with: error, of: original, at: clock.now(), since: begun)
        history.append(ended)
        self.attempt = nil
        events?.report(.attemptEnded(ended))
    }

    /// Creates the failure of the call: adds the number of attempts and the retry decision to the error, and maps it.
    private func failed(
        with error: any Error, of failure: RequestFailure, _ handling: ErrorHandlingService,
        after decision: RetryDecision? = nil
    ) -> FailedCall {
        let known = error.changingCause {
            $0.attempts = max(history.count, 1)
            $0.retryDecision = decision
        }
        let error = handling.mapped(known, failure)
        scope.refresh?.note(RefreshMark.Failure(error: error, cause: known))
        let report = CallReport(
            of: endpoint, date: date, earlier: history, last: nil, error: error, duration: clock.now() - begun)
        return FailedCall(error: error.changingCause { $0.attachment = report }, report: report)
    }

    private func failure(with error: any Error) -> RequestFailure {
        let request = attempt?.sent ?? original
        let response = attempt?.response
        var failure = RequestFailure(
            endpoint: endpoint, request: request, adaptedRequest: attempt?.adapted, originalRequest: original,
            response: response?.withoutStream, error: NetworkError.described(error, request, response?.withoutStream),
            attempt: attempt?.number ?? max(history.count, 1), date: clock.date(), history: history)
        failure.bounds = (attempts: max(settings.maximumAttempts ?? 1, 1), time: scope.deadline?.remaining)
        if let decoder = settings.decoder { failure.decoder = decoder }
        return failure
    }
}

extension RetryDecision {
    fileprivate static let endedWhileWaiting = RetryDecision.noRetry(because: "the call was ended while it waited")

}
