#if os(Linux)
    import Foundation

    /// The time in which exchanges and WebSockets may take pieces of data before the loop continues with other
    /// exchanges.
    ///
    /// libcurl reads from a socket for as long as bytes arrive, and decoding a piece may take milliseconds. When the
    /// time is over, the exchanges refuse further pieces, and continue in the next iteration of the loop.
    ///
    /// The time begins with its first check. Many calls of libcurl deliver no piece, and these calls then need not read
    /// the clock.
    ///
    /// Exclusivity is not checked at run time, because only the loop's thread uses the object, and accesses do not
    /// overlap.
    final class CurlPace {
        /// The time, in nanoseconds, that all calls of one kind to libcurl share in one iteration of the loop.
        static let standard: UInt64 = 20_000_000

        private let time: UInt64
        /// How long the current call may take.
        @exclusivity(unchecked) private var share: UInt64
        /// When the time of the current call ends; nil if this time has not begun.
        @exclusivity(unchecked) private var end: UInt64?
        @exclusivity(unchecked) private var isFresh = false
        /// The number of calls of libcurl so far.
        @exclusivity(unchecked) private(set) var calls: UInt64 = 0

        /// - Parameter time: In nanoseconds. Default: 20 ms.
        init(_ time: UInt64 = CurlPace.standard) {
            self.time = time
            share = time
        }

        /// Begins one of several calls of libcurl that share the time. Each call has at least 1 ms, and may take one
        /// piece in any case.
        func begin(oneOf count: Int = 1) {
            share = count <= 1 ? time : max(time / UInt64(count), min(time, 1_000_000))
            end = nil
            isFresh = true
            calls += 1
        }

        /// Returns whether an exchange may take a piece.
        func mayTake() -> Bool {
            defer { isFresh = false }
            return !isOver() || isFresh
        }

        /// Returns whether the time is over. The first call of this method begins the time.
        func isOver() -> Bool {
            let now = CurlLoop.time()
            guard let end else {
                end = now &+ share
                return false
            }
            return now > end
        }
    }

    /// Detects that a call of libcurl does not return, because it is busy with one exchange: see
    /// ``CurlFault/heldLoops``.
    struct CurlHold {
        private var call: UInt64 = 0
        private var events = 0
        private var start: UInt64 = 0

        /// Counts an event during a call of libcurl. Few calls have 32 events. From the 32nd event on, the thread's
        /// processor time is read every 8 events. Other processes do not increase this time.
        ///
        /// - Returns: Whether the call has used a fifth of a second since its 32nd event. Normally, no call takes much
        ///   longer than ``CurlPace`` allows.
        mutating func noteEvent(of call: UInt64) -> Bool {
            if call != self.call { (self.call, events, start) = (call, 0, 0) }
            events += 1
            guard events >= 32, events % 8 == 0 else { return false }
            let time = CurlLoop.processorTime()
            if start == 0 { start = time }
            return time - start > 200_000_000
        }
    }

    extension CurlLoop {
        /// The processor time of the current thread, in nanoseconds.
        fileprivate static func processorTime() -> UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }
    }
#endif
