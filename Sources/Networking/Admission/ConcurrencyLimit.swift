import Foundation

/// Lets so many requests a host be on their way at once; the rest wait, first come first served.
///
/// Services that talk to the same server share the object. A waiter that is cancelled leaves the queue. Requests that ask for
/// ``AdmissionOption/Value/unlimited`` take no place.
public final class ConcurrencyLimit: AdmissionPolicy {
    private struct Host: Sendable {
        var active = 0
        /// Who waits, by the order of coming; those that left early are gone from here, but not from the order.
        var waiters: [UInt64: Settlement<Void>] = [:]
        var nextInLine: UInt64 = 0
        var nextID: UInt64 = 0

        func isFull(_ limit: Int) -> Bool {
            active >= limit || !waiters.isEmpty
        }

        mutating func append(_ turn: Settlement<Void>) -> UInt64 {
            defer { nextID += 1 }
            waiters[nextID] = turn
            return nextID
        }

        mutating func popFirst() -> Settlement<Void>? {
            while nextInLine < nextID {
                defer { nextInLine += 1 }
                if let turn = waiters.removeValue(forKey: nextInLine) { return turn }
            }
            return nil
        }
    }

    private typealias State = [HTTPOrigin: Host]

    /// How many requests a host may be on their way at once.
    public let limit: Int
    private let state = Locked(State())

    /// Makes a limit.
    ///
    /// - Parameter limit: How many at once; 64 unless said otherwise, never less than 1.
    public init(_ limit: Int = 64) {
        self.limit = max(limit, 1)
    }

    /// How many requests are on their way.
    public var activeCount: Int { state.withLock { $0.values.reduce(0) { $0 + $1.active } } }

    /// How many requests wait for a place.
    public var waiterCount: Int { state.withLock { $0.values.reduce(0) { $0 + $1.waiters.count } } }

    /// Takes a place where one is free and nobody waits for it.
    public func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionTicket? {
        guard let key = key(request) else { return AdmissionTicket() }
        let isIn = state.withLock { hosts in
            if let host = hosts[key], host.isFull(limit) { return false }
            hosts[key, default: Host()].active += 1
            return true
        }
        return isIn ? AdmissionTicket(key) : nil
    }

    /// Waits in the queue of the request's host.
    public func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionTicket {
        guard let key = key(request) else { return AdmissionTicket() }
        let turn = Settlement<Void>()
        guard let id = takePlace(key, or: turn) else { return AdmissionTicket(key) }
        do {
            try await turn.value()
        } catch {
            state.withLock { _ = $0[key]?.waiters.removeValue(forKey: id) }
            throw error
        }
        return AdmissionTicket(key)
    }

    /// Hands the place to the next in the queue, or sets it free.
    public func leave(_ ticket: AdmissionTicket, _ outcome: AdmissionOutcome) {
        guard let key = ticket.context as? HTTPOrigin else { return }
        while let next = nextTurn(key) {
            // A waiter that has left settles nothing: the place goes to the one behind it.
            if next.settle(.success(())) { return }
        }
    }

    /// Takes a place where one is free and nobody waits for it; otherwise queues, and tells under which number.
    private func takePlace(_ key: HTTPOrigin, or turn: Settlement<Void>) -> UInt64? {
        let limit = limit
        return state.withLock { hosts in
            let isFull = hosts[key].map { $0.isFull(limit) } ?? false
            if isFull { return hosts[key]?.append(turn) }
            hosts[key, default: Host()].active += 1
            return nil
        }
    }

    /// The one whose turn it is; nil where the place was set free, because nobody waits.
    private func nextTurn(_ key: HTTPOrigin) -> Settlement<Void>? {
        state.withLock { hosts in
            if let turn = hosts[key]?.popFirst() { return turn }
            hosts[key]?.active -= 1
            if hosts[key]?.active == 0 { hosts[key] = nil }
            return nil
        }
    }

    private func key(_ request: HTTPRequest) -> HTTPOrigin? {
        request[option: AdmissionOption.self] == .required ? request.origin : nil
    }
}
