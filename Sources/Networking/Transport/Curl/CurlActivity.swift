#if os(Linux)
    /// When bytes last moved in an exchange, and which of its timeouts has passed. Times are in nanoseconds of the
    /// loop's clock.
    struct CurlActivity {
        /// The answer to "has a timeout passed?"
        enum Status {
            /// No; look again at this time.
            case check(at: UInt64)
            /// Yes, with this error.
            case passed(NetworkError)
        }

        private let timeouts: HTTPRequest.Timeouts
        private let idle: UInt64
        private let connect: UInt64
        private var start: UInt64 = 0
        /// The time of the last activity; nil while the exchange waits for a connection.
        private var last: UInt64?
        private var uploaded: Int64 = 0

        init(_ timeouts: HTTPRequest.Timeouts) {
            self.timeouts = timeouts
            idle = UInt64(max(timeouts.effectiveIdle.nanoseconds, 1))
            connect = UInt64(max(timeouts.effectiveConnect.nanoseconds, 1))
        }

        /// - Parameter isConnected: Whether the exchange waits for no connection, so that its idle timeout starts.
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

        /// Bytes arrived at a time that may be before the last activity.
        mutating func note(arrival: UInt64) {
            if let last { self.last = max(last, arrival) }
        }

        /// - Parameters:
        ///   - isHeldBack: Whether the response waits for its reader, so that nothing can move.
        ///   - uploaded: The number of body bytes sent so far; nil if there is no body to send.
        mutating func status(at now: UInt64, isHeldBack: Bool, uploaded: Int64?) -> Status {
            guard !isHeldBack else { return .check(at: now.adding(idle)) }
            guard let last else { return waiting(at: now) }
            let moved = uploaded.map { $0 != self.uploaded } ?? false
            if let uploaded { self.uploaded = uploaded }
            if moved { self.last = now }
            if !moved, last.adding(idle) <= now { return .passed(.idleTimedOut(after: timeouts.effectiveIdle)) }
            return .check(at: uploaded == nil ? last.adding(idle) : now.adding(max(idle / 8, 1)))
        }

        /// Waiting for a connection is part of connecting.
        private func waiting(at now: UInt64) -> Status {
            guard start.adding(connect) <= now else { return .check(at: start.adding(connect)) }
            let limit = timeouts.effectiveConnect.shortText
            return .passed(
                NetworkError(
                    .connectTimedOut,
                    reason: "all connections were in use for \(limit): see CurlTransport.Configuration.Limits"))
        }
    }

    extension UInt64 {
        /// A time after this one, or the end of time.
        fileprivate func adding(_ span: UInt64) -> UInt64 {
            let (sum, isOverflow) = addingReportingOverflow(span)
            return isOverflow ? .max : sum
        }
    }
#endif
