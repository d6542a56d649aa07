/// A request of a client of the fleet. It has only 24 bytes, because millions of requests wait in the queue.
struct FleetAttempt {
    enum Kind: UInt8 {
        case call, refresh, stream
    }

    /// The result of the attempt. The failures are those that the library distinguishes.
    enum Outcome: UInt8, CaseIterable {
        case none, ok, unavailable, unauthorized, refused, lost
    }

    var client: UInt32
    var kind = Kind.call
    /// The number of retries so far.
    var retries: UInt8 = 0
    /// The repeats with another token: 1 for a newer token, 2 for the token of a refresh.
    var repeats: UInt8 = 0
    var outcome = Outcome.none
    /// The generation of the token that the request carries.
    var generation: UInt16 = 0
    /// The seconds in the `Retry-After` of the response.
    var asked: UInt16 = 0
    var probe: Int32 = 0
    /// The number of times that the breaker had opened when it admitted the attempt.
    var openings: Int32 = 0
    /// Whether the client refreshes its token only for this call.
    var isAlone = false
    /// Whether the request has waited for its turn after a pause.
    var hasTurn = false
    /// The number of consecutive connections of a stream that brought no event.
    var emptyConnections: UInt8 = 0

    /// Returns the number with which the call waits at the token machine. The machine returns the same number when the
    /// wait is over.
    ///
    /// - Parameter isRefused: Whether the request waits because its token was refused.
    func waiter(isRefused: Bool) -> UInt64 {
        UInt64(client) | UInt64(retries) << 32 | UInt64(repeats) << 40 | (isRefused ? 1 << 48 : 0)
    }

    init(client: Int, kind: Kind = .call) {
        self.client = UInt32(client)
        self.kind = kind
    }

    init(waiter: UInt64) {
        client = UInt32(truncatingIfNeeded: waiter)
        retries = UInt8(truncatingIfNeeded: waiter >> 32)
        repeats = UInt8(truncatingIfNeeded: waiter >> 40)
    }

    static func isRefused(_ waiter: UInt64) -> Bool { waiter >> 48 & 1 == 1 }
}
