/// A gate that delays requests to a host that has requested a pause, so that the requests are not refused one after
/// another.
///
/// The gate closes for an origin after a 429, 503 or 529 response with `Retry-After`, and after a response whose `RateLimit`
/// field says that no requests remain. The response after a redirect to another origin closes no gate: a foreign server
/// could otherwise lead calls to a refusal of the app's own server. The gate opens when the requested time has passed. Requests wait until then. A
/// request whose deadline is earlier ends at once. A token refresh never waits. Use one gate for all services of a
/// server.
public final class BackoffGate: StagedAdmissionPolicy {
    /// The broadcaster of the events. It reports each origin for which the gate closes or opens.
    public let events = Broadcaster<AdmissionEvent>()
    /// The longest time for which the gate stays closed after one response.
    let longest: Duration
    private let clock: NetworkClock
    /// The state of each origin for which the gate is closed.
    private let closed = Locked(OriginTable<GateMachine>())

    /// Creates a gate.
    ///
    /// - Parameters:
    ///   - longest: The longest time for which the gate stays closed after one response. If a response requests a
    ///     longer time, `longest` is used. If `longest` is zero, the gate never closes. Default: 60 seconds.
    ///   - clock: The clock that measures the time.
    public init(longest: Duration = .seconds(60), clock: NetworkClock = .continuous) {
        self.longest = longest
        self.clock = clock
    }

    package var stage: AdmissionStage { .gate }

    /// Returns the time for which requests to an origin still wait. Nil if they do not wait.
    public func wait(for origin: HTTPOrigin) -> Duration? {
        closed.withLock { $0[origin] }?.wait(at: clock.now())
    }

    /// Returns a permit if the gate is open.
    public func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? {
        openingTime(for: request) == nil ? AdmissionPermit(for: request.origin) : nil
    }

    /// Waits until the gate is open.
    ///
    /// - Throws: ``NetworkError/Kind/deadlineTimedOut`` at once if the call's deadline is before the gate opens.
    public func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
        while let opening = openingTime(for: request) {
            let wait = opening - clock.now()
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
        guard let origin = permit.origin, head.request.origin == origin, let asked = timeAsked(by: head),
            min(asked, longest) > .zero
        else { return }
        let now = clock.now()
        let wait = closed.withLock { closed in
            closed.makeRoom(for: origin) { $0.wait(at: now) != nil }
            return closed.change(origin, from: GateMachine()) { $0.close(for: asked, atMost: longest, at: now) }
        }
        if let wait { events.publish(.gateClosed(origin, for: wait)) }
    }

    /// Does nothing: the head of the response has decided.
    public func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {}

    /// The number of origins in the table.
    var knownOrigins: Int { closed.withLock { $0.count } }

    private func timeAsked(by response: HTTPResponse) -> Duration? {
        let isRefused = [.tooManyRequests, .serviceUnavailable, 529].contains(response.status)
        let asked = isRefused ? response.headers.retryDelay(from: clock.date()) : nil
        return asked ?? response.headers.rateLimit.flatMap { $0.remaining <= 0 ? $0.reset : nil }
    }

    /// Returns the time at which the gate opens for the request. Nil if the gate is open.
    private func openingTime(for request: HTTPRequest) -> Duration? {
        let (opening, opened): (Duration?, HTTPOrigin?) = closed.withLock { closed in
            guard !closed.isEmpty, let origin = request.origin, let machine = closed[origin] else { return (nil, nil) }
            guard machine.wait(at: clock.now()) == nil else { return (machine.opening, nil) }
            closed[origin] = nil
            return (nil, origin)
        }
        if let opened { events.publish(.gateOpened(opened)) }
        return opening
    }
}

/// The state of a ``BackoffGate`` for one origin. It is a value without a clock: the caller passes the current time.
package struct GateMachine: Sendable {
    /// The time at which the gate opens.
    private(set) var opening = Duration.zero

    package init() {}

    /// Closes the gate for the time that a response requests, unless the gate already stays closed for longer.
    ///
    /// - Parameter longest: The longest time for which the gate closes.
    /// - Returns: The time for which the gate closes. Nil if its opening time does not change.
    package mutating func close(for asked: Duration, atMost longest: Duration, at now: Duration) -> Duration? {
        let wait = min(asked, longest)
        guard wait > .zero, opening < now + wait else { return nil }
        opening = now + wait
        return wait
    }

    /// Returns the time for which a request waits. Nil if the gate is open.
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
