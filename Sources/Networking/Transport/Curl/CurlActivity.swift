#if os(Linux)
    /// The time of the last activity of an exchange, which determines whether a timeout has passed. Times are in
    /// nanoseconds of the loop's clock.
    struct CurlActivity {
        /// The result of a check of the timeouts.
        enum Status {
            /// No timeout has passed. The next check is due at the given time.
            case check(at: UInt64)
            /// A timeout has passed. The exchange ends with the given error.
            case passed(NetworkError)
        }

        private let timeouts: HTTPRequest.Timeouts
        /// The idle timeout, in nanoseconds.
        let idle: UInt64
        private let connect: UInt64
        private(set) var start: UInt64 = 0
        /// The time of the last activity; nil while the exchange waits for a connection.
        private var last: UInt64?
        private var uploaded: Int64 = 0

        init(_ timeouts: HTTPRequest.Timeouts) {
            self.timeouts = timeouts
            idle = UInt64(max(timeouts.effectiveIdle.nanoseconds, 1))
            connect = UInt64(max(timeouts.effectiveConnect.nanoseconds, 1))
        }

        /// Records the start of the exchange.
        ///
        /// - Parameter isConnected: Whether the exchange already has a connection. If true, its idle timeout starts
        ///   now.
        mutating func begin(at now: UInt64, isConnected: Bool) {
            start = now
            last = isConnected ? now : nil
        }

        mutating func noteConnection(at now: UInt64) {
            last = last ?? now
        }

        mutating func note(at now: UInt64) {
            last = now
        }

        /// Excludes a span, in which the loop could not read from its sockets, from the timeouts.
        mutating func delay(by span: UInt64) {
            start = start.adding(span)
            last = last?.adding(span)
        }

        /// Records that bytes arrived at the given time, which may be before the last activity.
        mutating func note(arrival: UInt64) {
            if let last { self.last = max(last, arrival) }
        }

        /// Returns whether a timeout has passed.
        ///
        /// - Parameters:
        ///   - now: The current time.
        ///   - isHeldBack: Whether the response waits for its reader, so that no bytes are transferred.
        ///   - uploaded: The number of bytes of the request's body sent so far; nil if there is no body to send.
        mutating func status(at now: UInt64, isHeldBack: Bool, uploaded: Int64?) -> Status {
            guard !isHeldBack else { return .check(at: now.adding(idle)) }
            guard let last else { return waiting(at: now) }
            let moved = uploaded.map { $0 != self.uploaded } ?? false
            if let uploaded { self.uploaded = uploaded }
            if moved { self.last = now }
            if !moved, last.adding(idle) <= now { return .passed(.idleTimedOut(after: timeouts.effectiveIdle)) }
            return .check(at: uploaded == nil ? last.adding(idle) : now.adding(max(idle / 8, 1)))
        }

        /// The time at which the connect timeout passes.
        var connectEnd: UInt64 { start.adding(connect) }

        /// Returns the status of an exchange whose name is being looked up.
        func statusOfLookup(at now: UInt64) -> Status {
            let idleEnd = start.adding(idle)
            if min(connectEnd, idleEnd) > now { return .check(at: min(connectEnd, idleEnd)) }
            return .passed(
                connectEnd <= now ? NetworkError(.connectTimedOut) : .idleTimedOut(after: timeouts.effectiveIdle))
        }

        /// Returns the status of an exchange that waits for a connection. The connect timeout includes this wait.
        private func waiting(at now: UInt64) -> Status {
            guard connectEnd <= now else { return .check(at: connectEnd) }
            let limit = timeouts.effectiveConnect.shortText
            return .passed(
                NetworkError(
                    .connectTimedOut,
                    reason: "all connections were in use for \(limit): see CurlTransport.Configuration.Limits"))
        }
    }

    extension UInt64 {
        /// Returns the time after the given span, or the largest time if the sum overflows.
        func adding(_ span: UInt64) -> UInt64 {
            let (sum, isOverflow) = addingReportingOverflow(span)
            return isOverflow ? .max : sum
        }
    }
#endif
