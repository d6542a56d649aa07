/// What happens after a failure: the decision about another attempt, and the error of the call.
extension RequestPipeline {
    /// Lets the error handlers decide about a failed attempt.
    ///
    /// - Returns: The failure of the call; nil if the request has to be sent again.
    func recover(from error: any Error) async -> Failure? {
        // If no file was written, the download of the attempt has not ended yet.
        phase.adapted?.parts.download?.finish()
        do {
            try scope.check()
            if try await waitedWhilePaused() { return nil }
            var failure = failure(with: error)
            end(failure.error, as: failure)
            let result = await client.errorHandlingService.result(of: &failure) { scope.interruption != nil }
            history[history.count - 1].decisions = failure.decisions
            try scope.check()
            switch result {
            case .next(let error, _), .fail(let error):
                try scope.complete()
                return failed(with: error, of: failure, after: history.last?.decision)
            case .retry(let delay, let request, _):
                history[history.count - 1] = history[history.count - 1].keeping(bytes: HTTPStatus.earlierBodySize)
                if let request { replace(with: request, after: failure) }
                if let decision = history.last?.decision { events?.report(.waiting(.retry(after: delay, decision))) }
                try await client.clock.wait(for: delay)
                return nil
            }
        } catch {
            return await interrupted()  // only interruptions are thrown here
        }
    }

    /// Replaces the request of the next attempts with a request that a handler returned. The new request belongs to the
    /// same call.
    private func replace(with request: HTTPRequest, after failure: RequestFailure) {
        let sent = history.flatMap { $0.redirects.map(\.request) + [$0.request].compactMap { $0 } }
        original =
            original.map { request.continuing($0, sent: sent + [failure.adaptedRequest].compactMap { $0 }) }
            ?? client.beginning(with: request, of: endpoint, settings, inSession: session)
    }

    /// If a pause has ended the attempt, waits until the call is resumed. A paused attempt does not count.
    ///
    /// - Returns: Whether a pause ended the attempt.
    private func waitedWhilePaused() async throws -> Bool {
        guard let pause = context.pause, pause.takeInterruption() else { return false }
        phase = .idle
        events?.report(.waiting(.paused))
        try await pause.resumed()
        return true
    }

    /// Ends a call that was cancelled or reset, or whose deadline has passed. The handlers map its error, but no retry
    /// follows.
    func interrupted() async -> Failure {
        // A response that was received is not the reason why the call ends.
        if case .answered(_, let request, let sent, let begun) = phase {
            phase = .sent(request, at: sent, begun: begun)
        }
        if case .idle = phase, history.last?.decision?.delay != nil {
            history[history.count - 1].decisions = [.noRetry(because: "the call was ended while it waited")]
        }
        var failure = failure(with: ending)
        if case .idle = phase {} else { end(failure.error, as: failure) }
        let result = await client.errorHandlingService.result(of: &failure) { false }
        guard case .fail(let error) = result else { return failed(with: failure.error, of: failure) }
        return failed(with: error, of: failure)
    }

    /// The error with which the call has to end.
    private var ending: any Error {
        let interruption = scope.interruption ?? .cancelled
        if interruption == .shutDown {
            return NetworkError(.transportShutDown, reason: "the client was shut down")
        }
        guard interruption == .deadlineExceeded else { return interruption }
        if scope.deadline?.isInherited == true {
            return NetworkError(
                .deadlineTimedOut, reason: "the deadline of the enclosing operation has passed (CallDeadline)")
        }
        guard let total = settings.timeouts.total else { return interruption }
        return NetworkError(
            .deadlineTimedOut, reason: "the call did not end within its total timeout of \(total.shortText)")
    }

    /// Adds the current attempt to the history, with the error that ended it, and reports the end of the attempt.
    private func end(_ error: any Error, as failure: RequestFailure) {
        let now = client.clock.now()
        let began = phase.isIdle ? now : phase.begun
        let attempt = RequestAttempt(
            number: failure.attempt, request: failure.request, response: failure.response, error: error,
            start: began - begun, queued: phase.sent.map { $0 - began }, duration: now - began,
            tokenGeneration: failure.request?.tokenGeneration
        ).keeping(bytes: HTTPStatus.rejectedBodySize)
        history.append(attempt)
        phase = .idle
        events?.report(.attemptEnded(attempt))
    }

    /// Creates the failure of the call: adds the number of attempts and the retry decision to the error, and maps the
    /// error.
    private func failed(
        with error: any Error, of failure: RequestFailure, after decision: RetryDecision? = nil
    ) -> Failure {
        let known = error.changingCause {
            $0.attempts = max(history.count, 1)
            $0.retryDecision = decision
            $0 = $0.leavingCall().keeping(bytes: HTTPStatus.rejectedBodySize)
        }
        let error = client.errorHandlingService.mapped(known, failure)
        scope.refresh?.note(RefreshMark.Failure(error: error, cause: known))
        let report = CallReport(
            of: endpoint, date: date, earlier: history, last: nil, error: error, duration: client.clock.now() - begun)
        let isDelayed =
            failure.response?.isRefusal == true
            && failure.response?.request.parts.session?.call?.refreshError != nil
        return Failure(
            error: error.changingCause { $0.attachment = report }, report: report, isRefreshDelayed: isDelayed,
            isEnded: scope.interruption.map { $0 != .deadlineExceeded } ?? false)
    }

    /// Returns the failure of the current attempt. Between two attempts, returns the failure of the call.
    private func failure(with error: any Error) -> RequestFailure {
        let known = phase.adapted == nil ? nil : error as? NetworkError
        var response = phase.response ?? known?.response
        response?.decideRefusal()
        // Redirects may have changed the request.
        let request = phase.response?.request ?? known?.request ?? response?.request ?? phase.adapted ?? original
        return failure(with: error, request, phase.adapted, response?.withoutStream, original: original)
    }

    private func failure(
        with error: any Error, _ request: HTTPRequest?, _ adapted: HTTPRequest?, _ response: HTTPResponse?,
        original: HTTPRequest?
    ) -> RequestFailure {
        let number = phase.isIdle ? max(history.count, 1) : history.count + 1
        var failure = RequestFailure(
            endpoint: endpoint, request: request, adaptedRequest: adapted, originalRequest: original,
            response: response, error: NetworkError.described(error, request, response), attempt: number,
            date: client.clock.date(), history: history)
        failure.bounds = (attempts: max(settings.maximumAttempts ?? 1, 1), time: scope.deadline?.remaining)
        failure.decoder = settings.bodyDecoder
        failure.serverErrorType = client.configuration.serverError
        return failure
    }

    /// Returns the response for the converter. A response that the converter may keep is detached from the call. The
    /// response of a download is not detached, because the download needs its parts until the file is closed. If a
    /// stream fails after the call has returned, its error is mapped in the same way as the call's own errors.
    @inline(never)  // as `begin`
    func readable(_ response: HTTPResponse) -> HTTPResponse {
        guard requirements.keepsResponse, !requirements.isDownload else { return response }
        var left = response.leavingCall()
        guard requirements.target == .stream, case .stream(let body) = left.content else { return left }
        let mapping = mappingAfterCall(left)
        left.content = .stream(body.mappingErrors { [scope] in scope.isOver ? mapping($0) : $0 })
        return left
    }

    /// Returns a closure for errors that occur after the end of the call. The closure maps such an error in the same
    /// way as an error of the call.
    ///
    /// - Parameter response: The response, for use outside the call.
    func mappingAfterCall(_ response: HTTPResponse) -> @Sendable (any Error) -> any Error {
        // The closure retains the failure, but not the call, because the call retains the observers.
        let failure = failure(
            with: NetworkError(.unknown), response.request, phase.adapted?.leavingCall(), response.withoutStream,
            original: original?.leavingCall())
        return { [date = client.clock.date, handling = client.errorHandlingService] in
            let error = ($0 as? NetworkError)?.leavingCall() ?? $0
            let known = NetworkError.described(error, failure.request, failure.response)
            return handling.mapped(afterCall: failure.with(known, at: date()))
        }
    }
}

extension RequestPipeline.Phase {
    var isIdle: Bool { if case .idle = self { true } else { false } }

    /// The time at which the attempt began; zero if there is no attempt.
    var begun: Duration {
        switch self {
        case .idle: .zero
        case .begun(let begun), .sent(_, _, let begun), .answered(_, _, _, let begun): begun
        }
    }

    /// The time at which the request was handed to the transport; nil before that.
    var sent: Duration? {
        switch self {
        case .idle, .begun: nil
        case .sent(_, let sent, _), .answered(_, _, let sent, _): sent
        }
    }

    /// The adapted request that was handed to the transport; nil before that.
    var adapted: HTTPRequest? {
        switch self {
        case .idle, .begun: nil
        case .sent(let request, _, _), .answered(_, let request, _, _): request
        }
    }

    /// The response; nil before it was received.
    var response: HTTPResponse? { if case .answered(let response, _, _, _) = self { response } else { nil } }
}

extension NetworkError {
    /// Returns an error of the library with the request and the response added. The returned error can be used outside
    /// the call. This is necessary because a handler may keep or wrap the returned error. Returns an error of the app's
    /// code unchanged.
    fileprivate static func described(
        _ error: any Error, _ request: HTTPRequest?, _ response: HTTPResponse?
    ) -> any Error {
        let known = NetworkError.wrapping(error)
        guard known.kind != .unknown || error is NetworkError else { return error }
        return known.completed(request: request, response: response).leavingCall()
    }
}
