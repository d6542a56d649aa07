/// What happens after a failure: the decision about another attempt, and the error of the call.
extension RequestCall {
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
                if let request { replace(with: request, after: failure) }
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
    private mutating func replace(with request: HTTPRequest, after failure: RequestFailure) {
        guard let original else { return }
        let sent = [failure.adaptedRequest, failure.request].compactMap { $0 }
        self.original = request.continuing(original, sent: sent)
    }

    /// Waits until a pause is over, if a pause has ended the attempt. A paused attempt does not count.
    ///
    /// - Returns: Whether a pause ended the attempt.
    private mutating func waitedWhilePaused() async throws -> Bool {
        guard let pause = pipeline.pause, pause.takeInterruption() else { return false }
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
            $0 = $0.leavingCall()
        }
        let error = handling.mapped(known, failure)
        scope.refresh?.note(RefreshMark.Failure(error: error, cause: known))
        let report = CallReport(
            of: endpoint, date: date, earlier: history, last: nil, error: error, duration: clock.now() - begun)
        return FailedCall(error: error.changingCause { $0.attachment = report }, report: report)
    }

    func failure(with error: any Error) -> RequestFailure {
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
