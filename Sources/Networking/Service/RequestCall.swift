import Foundation

/// What one call knows of itself from attempt to attempt, and how it decides whether to try again.
struct RequestCall: Sendable {
    let endpoint: any Endpoint
    let scope: CallScope
    let settings: RequestSettings
    let clock: NetworkClock
    /// Who watches it; nil for nobody.
    let watch: CallWatch?
    /// What counts its bytes; nil for nothing.
    private let meter: ProgressMeter?

    private let date: Date
    private let begun: Duration
    private var original: HTTPRequest?
    /// The original request as the endpoint made it, once a handler has put another one in its place.
    private var first: HTTPRequest?
    private var adapted: HTTPRequest?
    private var sent: HTTPRequest?
    private var attempt = 0
    /// The attempt was paused, and begins once more.
    private var isBegunAnew = false
    /// The attempt has begun, and has not been told to be over.
    private var isUnderWay = false
    /// When the attempt began, and when it was handed to the transport.
    private var attemptBegun: Duration
    private var handedOver: Duration?
    private var response: HTTPResponse?
    private var failures: [RequestFailure] = []
    /// The attempts that are over.
    private var attempts: [RequestAttempt] = []

    init(
        endpoint: any Endpoint, scope: CallScope, settings: RequestSettings, clock: NetworkClock,
        watch: CallWatch?, meter: ProgressMeter?
    ) {
        self.endpoint = endpoint
        self.scope = scope
        self.settings = settings
        self.clock = clock
        self.watch = watch
        self.meter = meter
        date = clock.date()
        begun = clock.now()
        attemptBegun = begun
        watch?.tell(.started)
    }

    /// Begins an attempt: with the request made once, or the one that a handler put in its place.
    mutating func begin(_ make: () throws -> HTTPRequest) throws -> HTTPRequest {
        forgetAttempt()
        attempt += 1
        if attempt > 1 || isBegunAnew { attemptBegun = clock.now() }
        if let interruption = scope.interruption { throw interruption }
        var request = try original ?? make()
        original = request  // also where the body cannot be encoded: the failure tells of the request
        if !request.body.isEncoded {
            request.body = try request.body.encoded()
            original = request
        }
        // Anew with each attempt: a handler may have put a request of its own in the place of the first one.
        if scope.isPartOfRefresh {
            request[option: AdmissionOption.self] = .refresh
        } else if scope.isAdmitted, request[option: AdmissionOption.self] == .required {
            request[option: AdmissionOption.self] = .unlimited
        }
        isUnderWay = true
        guard let watch else { return request }
        if let meter { request[option: ProgressMeter.self] = meter }
        request[option: RequestWatch.self] = watch.below
        watch.tell(.attempting(attempt, request))
        return request
    }

    /// An admission policy has said "not now".
    func noteWait(for policy: any AdmissionPolicy) {
        watch?.tell(.waiting(.admission(policy: "\(type(of: policy))")))
    }

    /// Dresses the original request, and remembers it as it goes out.
    mutating func adapt(
        _ original: HTTPRequest, with adapting: RequestAdaptingService
    ) async throws -> HTTPRequest {
        watch?.tell(.admitted(attempt: attempt))
        var request = original
        try await adapting.adapt(&request, for: endpoint)
        if let interruption = scope.interruption { throw interruption }
        adapted = request
        sent = request
        handedOver = clock.now()
        watch?.tell(.adapted(request))
        return request
    }

    /// Remembers the response, whatever becomes of it.
    mutating func note(_ response: HTTPResponse) -> HTTPResponse {
        self.response = response
        sent = response.request
        watch?.tellHead(of: response)
        return response
    }

    /// Has the response judged. Of one that is refused, as much of the body is kept as it takes to read an error.
    mutating func judge(_ response: HTTPResponse, by validators: [ResponseValidator]) async throws {
        do { try response.validated(by: validators) } catch {
            if case .stream = response.content { self.response = await response.refused() }
            throw error
        }
    }

    /// Ends the call with success, unless it was ended before.
    ///
    /// - Returns: What its report is made of.
    mutating func finish(with response: HTTPResponse) throws -> CallRecord {
        if let interruption = scope.close() { throw interruption }
        let record = CallRecord(
            call: endpoint, date: date, earlier: attempts, number: attempt, begun: begun, attemptBegun: attemptBegun,
            handedOver: handedOver, ended: clock.now())
        if let watch {
            let report = record.report(on: response)
            if let last = report.attempts.last { watch.tell(.attempted(last)) }
            watch.tell(.finished(report))
        }
        return record
    }

    /// Has the handlers deal with a failed attempt. Returns when the request is to be sent again, throws what the call ends with.
    mutating func recover(from error: any Error, with handling: ErrorHandlingService) async throws {
        guard scope.interruption == nil else { throw await interrupted(handling) }
        if try await wasPaused(handling) { return }
        if sent != nil, let known = error as? NetworkError {
            sent = known.request ?? sent
            response = response ?? known.response  // of an answer whose body was lost, there is the head
        }
        var failure = failure(with: error)
        tellOfAttempt(failure.error)
        let verdict = await handling.verdict(on: &failure, isInterrupted: { scope.interruption != nil })
        attempts[attempts.count - 1].decision = failure.decisions.last
        guard scope.interruption == nil else { throw await interrupted(handling) }
        failures.append(failure)
        forgetAttempt()
        switch verdict {
        case .fail(let error):
            guard scope.close() == nil else { throw await interrupted(handling) }
            throw told(error, failure)
        case .retry(let delay, let request):
            if let request { original = replacing(request) }
            if let decision = failure.decisions.last {
                watch?.tell(.waiting(.retry(after: delay, decision)))
            }
            do { try await clock.wait(for: delay) } catch {
                attempts[attempts.count - 1].decision = RetryDecision(
                    .noRetry, because: "the call was ended while it waited")
                throw await interrupted(handling)
            }
        }
    }

    /// What a handler wants sent in the original's place; to another server, what is meant for the first one is not for it.
    private mutating func replacing(_ request: HTTPRequest) -> HTTPRequest {
        guard let first = first ?? original else { return request }
        self.first = first
        var request = request
        request[option: OtherOrigin.self] = first[option: OtherOrigin.self] || request.origin != first.origin
        return request
    }

    /// Whether the attempt was ended by a pause; then it has been waited for, and the attempt does not count.
    private mutating func wasPaused(_ handling: ErrorHandlingService) async throws -> Bool {
        guard let pause = settings.options[PauseOption.self], pause.takeInterruption() else { return false }
        forgetAttempt()
        watch?.tell(.waiting(.paused))
        do { try await pause.resumed() } catch { throw await interrupted(handling) }
        attempt -= 1
        isBegunAnew = true
        return true
    }

    /// The error of a call that was cancelled, reset or overtaken by its deadline: the chain maps it, and no retry is granted.
    private mutating func interrupted(_ handling: ErrorHandlingService) async -> any Error {
        response = nil  // of whatever came before, it is not what ended the call
        var failure = failure(with: ending)
        if isUnderWay { tellOfAttempt(failure.error) }
        let verdict = await handling.verdict(on: &failure, isInterrupted: { false })
        guard case .fail(let error) = verdict else { return told(failure.error, failure) }
        return told(error, failure)
    }

    /// Why the call has to end.
    private var ending: any Error {
        let interruption = scope.interruption ?? .cancelled
        guard interruption == .deadlineExceeded, let total = settings.timeouts.total else { return interruption }
        return NetworkError(.deadlineTimedOut, reason: "the call was not over within \(total.words)")
    }

    /// The error that the call ends with, with what is known about its attempts.
    private func told(_ error: any Error, _ failure: RequestFailure) -> any Error {
        let report = CallReport(
            of: endpoint, date: date, earlier: attempts, last: nil, error: error,
            duration: clock.now() - begun)
        watch?.tell(.finished(report))
        guard var error = error as? NetworkError else { return error }
        error.attempts = max(attempt, 1)
        error.retryDecision = failure.isInterruption ? nil : failure.decisions.last
        error.attachment = report
        return error
    }

    /// The attempt is over, and went wrong.
    private mutating func tellOfAttempt(_ error: any Error) {
        guard attempts.last?.number != max(attempt, 1) else { return }
        isUnderWay = false
        let attempt = RequestAttempt(
            number: max(attempt, 1), request: sent ?? original, response: response?.withoutStream, error: error,
            start: attemptBegun - begun, queued: handedOver.map { $0 - attemptBegun },
            duration: clock.now() - attemptBegun)
        attempts.append(attempt)
        watch?.tell(.attempted(attempt))
    }

    private mutating func forgetAttempt() {
        adapted = nil
        sent = nil
        response = nil
        handedOver = nil
    }

    private func failure(with error: any Error) -> RequestFailure {
        var failure = RequestFailure(
            endpoint: endpoint, request: sent ?? original, adaptedRequest: adapted, originalRequest: original,
            response: response?.withoutStream, error: described(error), attempt: attempt, date: clock.date(),
            earlierFailures: failures)
        failure.bounds = (attempts: max(settings.maximumAttempts ?? 1, 1), time: scope.deadline?.remaining)
        if let decoder = settings.decoder { failure.decoder = decoder }
        return failure
    }

    /// The library's own errors with what was sent and what came back; an error of the user's code stays as it is.
    private func described(_ error: any Error) -> any Error {
        switch NetworkError.wrapping(error) {
        case let known where known.kind != .unknown || error is NetworkError:
            known.completed(request: sent ?? original, response: response)
        default:
            error
        }
    }
}
