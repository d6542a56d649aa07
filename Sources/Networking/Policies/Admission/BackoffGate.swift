/// A gate that delays requests to a host that has requested a pause, so that the requests are not refused one after
/// another.
///
/// The gate closes for an origin after a 429, 503 or 529 response with `Retry-After`, and after a response whose
/// `RateLimit` field says that no requests remain. The response after a redirect to another origin closes no gate: a
/// foreign server could otherwise lead calls to a refusal of the app's own server. The gate opens when the requested
/// time has passed. Requests wait until then. A request whose deadline is earlier ends at once. A token refresh never
/// waits. Use one gate for all services of a server.
///
/// If `RateLimit` requests a longer time than ``init(longest:clock:)`` allows, for example because the requests of a
/// day are used up, requests do not wait: they end at once with ``NetworkError/Kind/rateLimited``, until the time has
/// passed, but for at most a day.
public final class BackoffGate: StagedAdmissionPolicy {
    /// The broadcaster of the events. It reports each origin for which the gate closes or opens.
    public let events = Broadcaster<AdmissionEvent>()
    /// The longest time for which requests wait after one response.
    let longest: Duration
    private let clock: NetworkClock
    /// The state of each origin for which the gate is closed.
    private let closed = Locked(OriginTable<GateMachine>())

    /// Creates a gate.
    ///
    /// - Parameters:
    ///   - longest: The longest time for which requests wait after one response. If `Retry-After` requests a longer
    ///     time, `longest` is used. If `longest` is zero, the gate never closes. Default: 60 seconds.
    ///   - clock: The clock that measures the time.
    public init(longest: Duration = .seconds(60), clock: NetworkClock = .continuous) {
        self.longest = longest
        self.clock = clock
    }

    package var stage: AdmissionStage { .gate }

    /// Returns the time for which requests to an origin still wait, or end at once. Nil if they are sent.
    public func wait(for origin: HTTPOrigin) -> Duration? {
        closed.withLock { $0[origin] }?.wait(at: clock.now())
    }

    /// Returns a permit if the gate is open.
    public func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? {
        pause(for: request) == nil ? AdmissionPermit(for: request.origin) : nil
    }

    /// Waits until the gate is open.
    ///
    /// - Throws: ``NetworkError/Kind/deadlineTimedOut`` at once if the call's deadline is before the gate opens, and
    ///   ``NetworkError/Kind/rateLimited`` at once if the host has requested a longer time by `RateLimit`.
    public func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
        while let pause = pause(for: request) {
            let wait = pause.end - clock.now()
            if pause.isLong, wait > .zero, let origin = request.origin {
                throw NetworkError(
                    .rateLimited,
                    reason: "\(origin) accepts no more requests (RateLimit); try again in \(wait.shortText)",
                    request: request)
            }
            if let deadline = CallScope.current?.deadline, deadline.remaining <= wait {
                throw NetworkError(
                    .deadlineTimedOut,
                    reason: "the host requests a wait of \(wait.shortText), which would end after the call's deadline"
                )
            }
            try await clock.wait(for: wait)
        }
        return AdmissionPermit(for: request.origin)
    }

    /// Closes the gate if the host requests a pause.
    public func heard(_ permit: AdmissionPermit, _ head: HTTPResponse) {
        guard let origin = permit.origin, head.request.origin == origin else { return }
        guard let (asked, isQuota) = timeAsked(by: head), min(asked, longest) > .zero else { return }
        let now = clock.now()
        let wait = closed.withLock { closed in
            closed.makeRoom(for: origin) { $0.wait(at: now) != nil }
            return closed.change(origin, from: GateMachine()) {
                $0.close(for: asked, atMost: longest, isQuota: isQuota, at: now)
            }
        }
        if let wait { events.publish(.gateClosed(origin, for: wait)) }
    }

    /// Does nothing: the head of the response has decided.
    public func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {}

    /// The number of origins in the table.
    var knownOrigins: Int { closed.withLock { $0.count } }

    /// Returns the time that a response requests, and whether the reason is that no requests remain.
    private func timeAsked(by response: HTTPResponse) -> (Duration, isQuota: Bool)? {
        let isRefused = [.tooManyRequests, .serviceUnavailable, 529].contains(response.status)
        let asked = isRefused ? response.headers.retryDelay(from: clock.date()) : nil
        let limit = response.headers.rateLimit
        let reset = limit.flatMap { $0.remaining <= 0 ? $0.reset : nil }
        // A window is only a guess of the time.
        if let reset, reset > longest, reset >= asked ?? .zero, limit?.isResetStated == true { return (reset, true) }
        return (asked ?? reset).map { ($0, false) }
    }

    /// Returns the pause in which a request would be sent. Nil if the gate is open.
    private func pause(for request: HTTPRequest) -> (end: Duration, isLong: Bool)? {
        let (pause, opened): ((Duration, isLong: Bool)?, HTTPOrigin?) = closed.withLock { closed in
            guard !closed.isEmpty, let origin = request.origin, let machine = closed[origin] else { return (nil, nil) }
            let now = clock.now()
            guard machine.wait(at: now) == nil else {
                return ((machine.opening, machine.isInLongPause(at: now)), nil)
            }
            closed[origin] = nil
            return (nil, origin)
        }
        if let opened { events.publish(.gateOpened(opened)) }
        return pause
    }
}

/// The state of a ``BackoffGate`` for one origin. It is a value without a clock: the caller passes the current time.
package struct GateMachine: Sendable {
    /// The end of a pause in which requests wait.
    private var pauseEnd = Duration.zero
    /// The end of a pause that is too long to wait for.
    private var longPauseEnd = Duration.zero
    private static let longestPause = Duration.seconds(86_400)

    package init() {}

    /// The time at which the gate opens.
    var opening: Duration { max(pauseEnd, longPauseEnd) }

    /// Closes the gate for the time that a response requests, unless the gate already stays closed for longer.
    ///
    /// - Parameters:
    ///   - longest: The longest time for which requests wait.
    ///   - isQuota: Whether no requests remain: if the time is longer than `longest`, no request waits for its end.
    /// - Returns: The time for which the gate closes. Nil if its opening time does not change.
    package mutating func close(
        for asked: Duration, atMost longest: Duration, isQuota: Bool = false, at now: Duration
    ) -> Duration? {
        let isLong = isQuota && asked > longest
        let wait = min(asked, isLong ? GateMachine.longestPause : longest)
        guard wait > .zero, opening < now + wait else { return nil }
        if isLong { longPauseEnd = now + wait } else { pauseEnd = now + wait }
        return wait
    }

    func isInLongPause(at now: Duration) -> Bool { longPauseEnd > now }

    /// Returns the time for which a request waits, or ends at once. Nil if the gate is open.
    package func wait(at now: Duration) -> Duration? { opening > now ? opening - now : nil }
}

/// The values of a policy for each origin. Expired values are removed when new origins are added, so that a client that
/// uses many hosts retains only the values of recent hosts.
struct OriginTable<Value: Sendable>: Sendable {
    private var values: [HTTPOrigin: Value] = [:]
    /// The number of values at which expired values are removed. It is twice the number of values that the last removal
    /// kept, so that a search through all values is rare.
    private var evictionThreshold = 64

    var count: Int { values.count }
    var isEmpty: Bool { values.isEmpty }

    subscript(origin: HTTPOrigin) -> Value? {
        get { values[origin] }
        set { values[origin] = newValue }
    }

    /// Changes the value of an origin in place. A new origin starts with `value`.
    mutating func change<Result>(
        _ origin: HTTPOrigin, from value: @autoclosure () -> Value, _ body: (inout Value) -> Result
    ) -> Result {
        body(&values[origin, default: value()])
    }

    /// Removes expired values before a new origin is added.
    mutating func makeRoom(for origin: HTTPOrigin, keeping isWorthKeeping: (Value) -> Bool) {
        guard values.count >= evictionThreshold, values[origin] == nil else { return }
        values = values.filter { isWorthKeeping($0.value) }
        evictionThreshold = max(64, values.count * 2)
    }
}
