/// A gate that delays requests to a host that has requested a pause, so that the requests are not refused one after
/// another.
///
/// The gate closes for an origin after a 429, 503 or 529 response with `Retry-After`, and after a response whose
/// `RateLimit` field says that no requests remain. A response after a redirect to another origin closes no gate.
/// Otherwise, a foreign server could redirect calls to a URL that the app's own server refuses, and would thereby close
/// the gate of the app's own server. The gate opens when the requested time has passed. Requests wait until then. A
/// request whose deadline is earlier ends at once. A token refresh never waits. Use one gate for all services of a
/// server.
///
/// If thousands of clients wait until the same time, all of them send their requests in the same second. With
/// `BackoffGate(spread: 0.5)`, two kinds of requests are spread at random over a period after the pause: repeated
/// requests, and requests that have waited for the end of the pause. This period is half as long as the pause. If new
/// requests begin at a constant rate, the load during this period is 1 + 1 / 0.5 = 3 times the normal load. The first
/// of the spread requests is the probe: if the server responds with another pause, the other requests continue to wait.
/// A request that begins after the pause does not wait. One pause never delays a request for longer than the pause and
/// its spread. If the deadline of the request is before the end of the spread, the request is sent in the first half of
/// the time between the end of the pause and the deadline.
///
/// If `RateLimit` requests a longer time than ``init(longest:spread:clock:random:)`` allows, for example because the
/// daily quota is used up, requests do not wait. Instead, they end at once with ``NetworkError/Kind/rateLimited`` until
/// that time has passed, but for at most one day.
public final class BackoffGate: StagedAdmissionPolicy {
    /// The broadcaster of the events. It reports each origin for which the gate closes or opens.
    public let events = Broadcaster<AdmissionEvent>()
    /// The longest time for which requests wait after one response.
    let longest: Duration
    /// The fraction of a pause over which the delayed requests are spread after the pause has ended.
    let spread: Double
    private let clock: NetworkClock
    private let random: RandomSource
    /// The state of each origin for which the gate is closed, or whose requests are still spread after a pause.
    private let closed = Locked(OriginTable<GateMachine>())

    /// Creates a gate.
    ///
    /// - Parameters:
    ///   - longest: The longest time for which requests wait after one response. If `Retry-After` requests a longer
    ///     time, `longest` is used. If `longest` is zero, the gate never closes. Default: 60 seconds.
    ///   - spread: The fraction of a pause, from 0 to 1, over which the delayed requests are spread after the pause has
    ///     ended. Default: 0, so that all requests are sent when the pause ends. This is right if there is only one
    ///     client.
    ///   - clock: The clock that measures the time.
    ///   - random: The source of the random times at which requests are sent.
    public init(
        longest: Duration = .seconds(60), spread: Double = 0, clock: NetworkClock = .continuous,
        random: RandomSource = .system
    ) {
        self.longest = longest
        self.spread = spread > 0 ? min(spread, 1) : 0  // also for a value that is not a number
        self.clock = clock
        self.random = random
    }

    package var stage: AdmissionStage { .gate }

    /// The origins in the table.
    var origins: [HTTPOrigin] { closed.withLock { $0.values.keys.sorted { "\($0)" < "\($1)" } } }

    /// Returns the time until the gate opens for an origin. Until then, requests wait or end at once. Nil if the gate
    /// is open.
    public func wait(for origin: HTTPOrigin) -> Duration? {
        closed.withLock { $0[origin] }?.wait(at: clock.now())
    }

    /// Returns a permit if the gate is open and the request does not have to wait for its turn after a pause.
    public func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? {
        let turn = request.positions?.turn(at: ObjectIdentifier(self))
        return pause(for: request, havingTurnOf: turn) == nil ? AdmissionPermit(for: request.origin) : nil
    }

    /// Waits until the gate is open.
    ///
    /// - Throws: ``NetworkError/Kind/deadlineTimedOut`` if the gate opens only after the call's deadline;
    ///   ``NetworkError/Kind/rateLimited`` if the `RateLimit` field of the host requests a longer time than the gate
    ///   allows. The method throws these errors without waiting.
    public func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
        // The end of the pause after which the request has already waited for its turn.
        var opening = request.positions?.turn(at: ObjectIdentifier(self))
        while let pause = pause(for: request, havingTurnOf: opening) {
            let now = clock.now()
            let wait = pause.opening - now
            if pause.isInLongPause(at: now), let origin = request.origin {
                throw NetworkError(
                    .rateLimited,
                    reason: "\(origin) accepts no more requests (RateLimit); try again in \(wait.shortText)",
                    request: request)
            }
            let remaining = CallScope.current?.deadline?.remaining
            if let remaining, wait > .zero, remaining <= wait {
                throw NetworkError(
                    .deadlineTimedOut,
                    reason: "the host requests a wait of \(wait.shortText), which would end after the call's deadline"
                )
            }
            let time = pause.turn(
                at: now, before: remaining.map { now + $0 }, fraction: spread > 0 ? random.fraction() : 0)
            try await clock.wait(for: time - now)
            // The random time of the turn is chosen once for each pause, even if the request enters the gate again
            // because of another policy.
            opening = pause.opening
            request.positions?.note(turnAfter: pause.opening, at: ObjectIdentifier(self))
        }
        return AdmissionPermit(for: request.origin)
    }

    /// Closes the gate if the host requests a pause.
    public func heard(_ permit: AdmissionPermit, _ head: HTTPResponse) {
        guard let (asked, isQuota) = timeAsked(by: head), min(asked, longest) > .zero else { return }
        guard let origin = permit.origin, head.request.origin == origin else { return }
        let now = clock.now()
        let wait = closed.withLock { closed in
            closed.makeRoom(for: origin) { $0.end > now }
            return closed.change(origin, from: GateMachine()) {
                $0.close(for: asked, atMost: longest, isQuota: isQuota, spread: spread, at: now)
            }
        }
        if let wait { events.publish(.gateClosed(origin, for: wait)) }
    }

    /// Does nothing: ``heard(_:_:)`` has already handled the head of the response.
    public func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {}

    /// The number of origins in the table.
    var knownOrigins: Int { closed.withLock { $0.count } }

    /// Returns the time that a response requests, and whether the reason is that no requests remain.
    private func timeAsked(by response: HTTPResponse) -> (Duration, isQuota: Bool)? {
        let asked = response.status.isRefusalForLoad ? response.headers.retryDelay(from: clock.date()) : nil
        let limit = response.headers.rateLimit
        let reset = limit.flatMap { $0.remaining <= 0 ? $0.reset : nil }
        // A reset time that is taken from the window is only a guess.
        if let reset, reset > longest, reset >= asked ?? .zero, limit?.isResetStated == true { return (reset, true) }
        return (asked ?? reset).map { ($0, false) }
    }

    /// Returns the pause because of which a request has to wait; nil if the request may be sent.
    ///
    /// - Parameter turn: If the request has already waited for its turn after a pause, the end of this pause. Otherwise
    ///   nil.
    private func pause(for request: HTTPRequest, havingTurnOf turn: Duration?) -> GateMachine? {
        let (pause, opened): (GateMachine?, HTTPOrigin?) = closed.withLock { closed in
            guard !closed.isEmpty, let origin = request.origin, var machine = closed[origin] else { return (nil, nil) }
            let now = clock.now()
            guard machine.wait(at: now) == nil else { return (machine, nil) }
            let isFirst = machine.open()
            closed[origin] = machine.end > now ? machine : nil
            let isHeld = machine.holds(isRepeated: request.attempt > 1, havingTurnOf: turn, at: now)
            return (isHeld ? machine : nil, isFirst ? origin : nil)
        }
        if let opened { events.publish(.gateOpened(opened)) }
        return pause
    }
}

extension HTTPStatus {
    /// Whether the server refuses the request because of its load: 429, 503 and 529.
    var isRefusalForLoad: Bool { self == .tooManyRequests || self == .serviceUnavailable || self == 529 }
}

/// The values of a policy for each origin. Expired values are removed when new origins are added, so that a client that
/// uses many hosts retains only the values of recent hosts.
struct OriginTable<Value: Sendable>: Sendable {
    private(set) var values: [HTTPOrigin: Value] = [:]
    /// When the table contains this number of values, expired values are removed. The number is twice the number of
    /// values that the last removal kept, so that a search through all values is rare.
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
