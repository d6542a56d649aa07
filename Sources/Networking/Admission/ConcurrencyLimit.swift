import Foundation

/// Lets so many requests a host be on their way at once; the rest wait, first come first served.
///
/// Services that talk to the same server share the object. A waiter that is cancelled leaves the queue. Requests that ask for
/// ``AdmissionOption/Value/unlimited`` take no place.
public final class ConcurrencyLimit: AdmissionPolicy {
    private struct Waiter: Sendable {
        let id: UInt64
        let turn: Settlement<Void>
    }

    private struct Host: Sendable {
        var active = 0
        var waiters: [Waiter] = []
    }

    private struct State: Sendable {
        var hosts: [String: Host] = [:]
        var nextID: UInt64 = 0
    }

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
    public var activeCount: Int { state.withLock { $0.hosts.values.reduce(0) { $0 + $1.active } } }

    /// How many requests wait for a place.
    public var waiterCount: Int { state.withLock { $0.hosts.values.reduce(0) { $0 + $1.waiters.count } } }

    /// Takes a place where one is free and nobody waits for it.
    public func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionTicket? {
        guard let key = key(request) else { return AdmissionTicket() }
        let isIn = state.withLock { state in
            let host = state.hosts[key, default: Host()]
            guard host.active < limit, host.waiters.isEmpty else { return false }
            state.hosts[key, default: Host()].active += 1
            return true
        }
        return isIn ? AdmissionTicket(key) : nil
    }

    /// Waits in the queue of the request's host.
    public func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionTicket {
        guard let key = key(request) else { return AdmissionTicket() }
        let turn = Settlement<Void>()
        let id: UInt64? = state.withLock { state in
            var host = state.hosts[key, default: Host()]
            defer { state.hosts[key] = host }
            guard host.active >= limit || !host.waiters.isEmpty else {
                host.active += 1
                return nil
            }
            defer { state.nextID += 1 }
            host.waiters.append(Waiter(id: state.nextID, turn: turn))
            return state.nextID
        }
        guard let id else { return AdmissionTicket(key) }
        do {
            try await turn.value()
        } catch {
            state.withLock { $0.hosts[key]?.waiters.removeAll { $0.id == id } }
            throw error
        }
        return AdmissionTicket(key)
    }

    /// Hands the place to the next in the queue, or sets it free.
    public func leave(_ ticket: AdmissionTicket, _ outcome: AdmissionOutcome) {
        guard let key = ticket.context as? String else { return }
        while let next = nextWaiter(key) {
            // A waiter that has left settles nothing: the place goes to the one behind it.
            if next.turn.settle(.success(())) { return }
        }
    }

    private func nextWaiter(_ key: String) -> Waiter? {
        state.withLock { state in
            guard var host = state.hosts[key] else { return nil }
            guard host.waiters.isEmpty else {
                defer { state.hosts[key] = host }
                return host.waiters.removeFirst()
            }
            host.active -= 1
            state.hosts[key] = host.active > 0 ? host : nil
            return nil
        }
    }

    private func key(_ request: HTTPRequest) -> String? {
        guard request[option: AdmissionOption.self] == .required else { return nil }
        let port = request.url.port ?? (request.url.scheme?.lowercased() == "https" ? 443 : 80)
        return "\(request.url.host?.lowercased() ?? ""):\(port)"
    }
}
