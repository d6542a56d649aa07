/// Holds requests to a host back once it has asked for time, instead of having each of them collect the same refusal.
///
/// The gate closes for an origin after a 429 or 503 with `Retry-After`, and after a response whose `RateLimit` field
/// says that nothing remains; it opens when the time has passed. Requests that come meanwhile wait, unless their
/// total deadline would pass before. A token refresh is never held back. Services that talk to the same server share
/// the object.
public final class BackoffGate: StagedAdmissionPolicy {
    /// What a gate tells about an origin.
    public enum Event: Hashable, Sendable {
        /// Requests wait, so long from now.
        case closed(HTTPOrigin, for: Duration)
        /// The time has passed; told when the next request goes.
        case opened(HTTPOrigin)
    }

    /// Tells of every origin for which the gate closes or opens.
    public let events = Broadcaster<Event>()
    /// The longest time that the gate stays closed for one response.
    let longest: Duration
    private let clock: NetworkClock
    /// When it opens again, for each origin for which it is closed.
    private let closed = Locked(OriginTable<Duration>())

    /// Makes a gate.
    ///
    /// - Parameters:
    ///   - longest: The longest time that it stays closed for one response; a server that asks for more gets
    ///     this. With zero the gate never closes. Default: 60 seconds.
    ///   - clock: What tells the time.
    public init(longest: Duration = .seconds(60), clock: NetworkClock = .continuous) {
        self.longest = longest
        self.clock = clock
    }

    var stage: AdmissionStage { .gate }

    /// How long requests to an origin still wait; nil if they do not.
    public func wait(for origin: HTTPOrigin) -> Duration? {
        closed.withLock { $0[origin] }.flatMap { $0 > clock.now() ? $0 - clock.now() : nil }
    }

    /// Lets the request through where the gate is open.
    public func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? {
        openingTime(for: request) == nil ? AdmissionPermit() : nil
    }

    /// Waits until the gate is open.
    ///
    /// - Throws: ``NetworkError/Kind/deadlineTimedOut`` at once where the call's deadline would pass before.
    public func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
        while let opening = openingTime(for: request) {
            let wait = opening - clock.now()
            if let deadline = CallScope.current?.deadline, deadline.remaining <= wait {
                throw NetworkError(
                    .deadlineTimedOut,
                    reason: "the host asked to wait for \(wait.shortText), longer than the call has left"
                )
            }
            try await clock.wait(for: wait)
        }
        return AdmissionPermit()
    }

    /// Hears whether the host asks for time.
    public func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
        guard let response = outcome.response, let asked = timeAsked(by: response),
            let origin = response.request.origin
        else { return }
        let wait = min(asked, longest)
        guard wait > .zero else { return }
        let now = clock.now()
        let opening = now + wait
        let isLater = closed.withLock { closed in
            closed.makeRoom(for: origin) { $0 > now }
            guard closed[origin].map({ $0 < opening }) ?? true else { return false }
            closed[origin] = opening
            return true
        }
        if isLater { events.publish(.closed(origin, for: wait)) }
    }

    /// How many origins it knows something about.
    var knownOrigins: Int { closed.withLock { $0.count } }

    private func timeAsked(by response: HTTPResponse) -> Duration? {
        if response.status == .tooManyRequests || response.status == .serviceUnavailable,
            let asked = response.headers.retryAfter
        {
            return asked.delay(from: clock.date())
        }
        return response.headers.rateLimit.flatMap { $0.remaining <= 0 ? $0.reset : nil }
    }

    /// When the gate opens for the request; nil if it is open.
    private func openingTime(for request: HTTPRequest) -> Duration? {
        let (opening, opened): (Duration?, HTTPOrigin?) = closed.withLock { closed in
            guard !closed.isEmpty, let origin = request.origin, let opening = closed[origin] else { return (nil, nil) }
            guard opening <= clock.now() else { return (opening, nil) }
            closed[origin] = nil
            return (nil, origin)
        }
        if let opened { events.publish(.opened(opened)) }
        return opening
    }
}
