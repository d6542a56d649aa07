import Foundation

/// One call, from its endpoint to the response and its value. A pipeline is used only once, by one task.
///
/// Each attempt waits for its admission. Then the adapters run on the original request. This also happens in a retry,
/// so a retry carries the new token. The transport sends the adapted request, the validators check the response, and
/// the converter reads the response. If anything fails, the error handlers decide whether another attempt follows.
final class RequestPipeline {
    typealias Outcome = (response: HTTPResponse, draft: CallReport.Draft)
    /// Reads a response, and waits for its body.
    typealias Reading = (_ response: HTTPResponse, _ decoder: any BodyDecoder) async throws -> Void

    /// The end of a failed call.
    struct Failure: Error {
        /// The error that the caller gets.
        let error: any Error
        let report: CallReport
        /// Whether the server refused the token, and the token could not be refreshed for now.
        var isRefreshDelayed = false
        /// Whether the call was ended: it was cancelled or reset, or its client was shut down.
        var isEnded = false

        /// The original error, because handlers may have replaced the error of the call.
        var cause: any Error { report.attempts.last?.error ?? error.originalNetworkError ?? error }

        /// Returns whether a later call may succeed. Returns true if only the token refresh failed, because a failed
        /// refresh says nothing about the request.
        ///
        /// - Parameter isWorthwhile: Decides about the original error.
        func mayPass(_ isWorthwhile: (any Error) -> Bool) -> Bool {
            guard !isEnded else { return false }
            return isRefreshDelayed || (cause as? NetworkError)?.isAboutRefresh == true || isWorthwhile(cause)
        }
    }

    /// The stage that the current attempt has reached.
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
    /// The number of the session in which the call began; nil if its client has no session.
    let session: Int?
    /// Nil if the call has neither a task nor an observer.
    let events: Events?
    /// The context through which the transfers communicate with the call.
    let context: TransferContext

    let date: Date
    let begun: Duration
    /// The request before the adapters change it. Every attempt begins with this request.
    var original: HTTPRequest?
    var phase = Phase.idle
    /// The attempts that have ended, in order.
    var history: [RequestAttempt] = []

    /// - Parameters:
    ///   - method: The endpoint's method, if it was read already.
    ///   - settings: The settings of the call, which include those of the endpoint and the service.
    ///   - track: The track of the call's task; nil if the call has no task.
    ///   - scope: The scope of the call. Default: a new one.
    ///   - session: The number of the session in which the call began. Default: the current session of the client.
    @inline(__always)  // otherwise the settings are copied, and all that they contain is retained
    init(
        _ endpoint: any Endpoint, method: HTTPMethod? = nil, on client: NetworkClient,
        for requirements: ConverterRequirements, with settings: RequestSettings, track: CallTrack? = nil,
        in scope: CallScope? = nil, inSession session: Int? = nil
    ) {
        self.endpoint = endpoint
        self.method = method ?? endpoint.method
        self.client = client
        let pausesDownload = track?.pauseGate != nil && self.method.isSafe
        self.requirements = pausesDownload ? requirements.forPausableCall() : requirements
        self.settings = settings
        self.scope = scope ?? CallScope(deadline: .ofCall(within: settings.timeouts.total, on: client.clock))
        self.session = session ?? client.sessionNumber
        events = Events.of(endpoint, on: client, settings.observers ?? [], in: self.scope, for: track)
        context = TransferContext(
            events: events?.receiver, meter: track?.meter ?? settings.progress ?? events?.makeMeter(on: client.clock),
            pause: track?.pauseGate, pausesUpload: !self.method.isSafe, isDownload: requirements.isDownload,
            rules: client.rules(for: settings))
        self.scope.admission = context
        date = client.clock.date()
        begun = client.clock.now()
    }

    /// Runs the call in the caller's task, and returns the value that the converter reads.
    ///
    /// Only this method, and its counterpart in ``RequestTask``, know the type of the value.
    ///
    /// - Throws: The error with which the call ends.
    @inline(__always)  // as `attempt`
    func value<Value>(_ converter: ResponseConverter<Value>) async throws -> (Value, Outcome) {
        let reading = converter.reading
        var value: Value?
        do {
            let outcome = try await runReporting { value = try await reading.convert($0, decoder: $1) }
            // The call has an outcome only after the response was read, so there is a value.
            guard let value else { throw NetworkError(.unknown) }
            return (value, outcome)
        } catch let failure as Failure { throw failure.error }
    }

    /// Runs the call in the caller's task and reports its end. If the call is made inside another call, an interruption
    /// of the outer call interrupts this call, too.
    ///
    /// - Throws: ``Failure``.
    func runReporting(_ read: Reading) async throws -> Outcome {
        let (outer, calls) = (CallScope.current, client.calls)
        outer?.add(scope)
        calls.enter(scope, endpoint)
        defer {
            outer?.remove(scope)
            calls.leave(scope)
        }
        do {
            let outcome = try await run(read)
            events?.finish(outcome.draft.report(on: outcome.response))
            return outcome
        } catch {
            if let failure = error as? Failure { events?.finish(failure.report) }
            throw error
        }
    }

    /// Makes attempts until the call ends, inside of its scope. Reports every event except the end of the call. Before
    /// this method runs, the caller adds the call to the client's running calls. The caller removes the call after its
    /// outcome has been delivered.
    ///
    /// - Throws: ``Failure``.
    func run(_ read: Reading) async throws -> Outcome {
        if let meter = context.meter { events?.observe(meter) }
        if requirements.target == .stream { context.meter?.expectStream() }
        var hasResponse = false
        defer {
            scope.detach()
            context.meter?.finish(hasResponse: hasResponse)
            requirements.download?.value.endCall()
        }
        let outcome = try await CallScope.Position.$current.withValue(.inside(scope)) {
            events?.begin()
            while true {
                do { return try await attempt(read) } catch {
                    if let failure = await recover(from: error) { throw failure }
                }
            }
        }
        hasResponse = true
        return outcome
    }

    /// Whether the deadline of the enclosing operation has passed. A passed deadline says nothing about the host. For
    /// example, the clients of a server may send short deadlines for the calls that the server makes. These deadlines
    /// must not open the server's circuit breaker.
    private var hasOutlivedItsWork: Bool {
        scope.deadline?.isInherited == true && scope.interruption == .deadlineExceeded
    }

    /// Makes one attempt.
    @inline(__always)  // a function of its own would check twice on which executor it runs
    private func attempt(_ converter: Reading) async throws -> Outcome {
        var original = try begin()
        let admitted = try await admission(&original)
        let (request, response): (HTTPRequest, HTTPResponse)
        do { request = try await adapters(original) } catch {
            admitted.end(.notSent)
            throw error
        }
        do { response = try await transport(request) } catch {
            admitted.end(hasOutlivedItsWork ? .failed(NetworkError(.cancelled)) : .after(error))
            throw error
        }
        if requirements.target != .file || !response.status.isSuccessful {
            admitted.end(.after(response))
            do { try validators(response) } catch { throw await refused(response, error) }
            let read = readable(response)
            try await converter(read, settings.bodyDecoder)
            return try finish(with: read, to: response.request)
        }
        // The permits are held until the file is complete.
        do { try validators(response) } catch {
            admitted.end(.after(response))
            throw await refused(response, error)
        }
        let read = readable(response)
        do { try await converter(read, settings.bodyDecoder) } catch {
            admitted.end(.failed(hasOutlivedItsWork ? NetworkError(.cancelled) : error))
            throw error
        }
        admitted.end(.after(response))
        return try finish(with: read, to: response.request)
    }
}

extension Response {
    /// Creates the response of a call from the value, the HTTP response and the draft of the report. The HTTP response
    /// is detached from the call.
    init(_ value: Value, _ outcome: RequestPipeline.Outcome) {
        self.init(value, outcome.response.leavingCall(), outcome.draft)
    }
}

extension AdmissionPermit.Outcome {
    /// Returns the outcome of an attempt that has failed. If the head of an error response has arrived, its status is
    /// the outcome, even if the call accepts this status and needs the body.
    fileprivate static func after(_ error: any Error) -> AdmissionPermit.Outcome {
        guard let known = error as? NetworkError, known.isLossOfBody, let response = known.response,
            !response.status.isSuccessful, !response.status.isRedirection
        else { return .failed(error) }
        return .responded(response)
    }
}
