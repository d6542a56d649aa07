#if os(Linux)
    /// The time that libcurl may take until the loop looks after other exchanges again.
    ///
    /// libcurl reads from a socket for as long as bytes arrive, and each piece may cost milliseconds to decode. When the
    /// time is over, the exchanges refuse further pieces, and continue in the next iteration of the loop.
    ///
    /// Exclusivity is not checked at run time, because only the loop's thread uses the object, and accesses do not
    /// overlap.
    final class CurlPace {
        /// The time for all calls of libcurl of one kind in an iteration of the loop.
        static let standard: UInt64 = 20_000_000

        private let time: UInt64
        @exclusivity(unchecked) private var end = UInt64.max
        @exclusivity(unchecked) private var isFresh = false

        /// - Parameter time: In nanoseconds. Default: 20 ms.
        init(_ time: UInt64 = CurlPace.standard) {
            self.time = time
        }

        /// Begins one of several calls of libcurl that share the time. Each has at least 1 ms, and may take one piece.
        func begin(oneOf calls: Int = 1) {
            end = CurlLoop.time() &+ max(time / UInt64(max(calls, 1)), min(time, 1_000_000))
            isFresh = true
        }

        /// Returns whether an exchange may take a piece.
        func mayTake() -> Bool {
            defer { isFresh = false }
            return isFresh || !isOver
        }

        var isOver: Bool { end < .max && CurlLoop.time() > end }
    }
#endif
