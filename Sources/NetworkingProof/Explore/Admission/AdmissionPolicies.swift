import Networking

enum CallerOption: HTTPRequest.Option {
    static var defaultValue: Int { 0 }
}

/// A limit whose permits are recorded in a ledger.
final class RecordedLimit: StagedAdmissionPolicy, @unchecked Sendable {  // because one thread at a time uses it
    private(set) var limit = ConcurrencyLimit()
    /// The position of the limit in the order in which limits are reserved.
    private(set) var index = 0
    /// The requests that wait or have waited, by caller.
    var requests: [Int: HTTPRequest] = [:]
    private let ledger: AdmissionLedger

    init(_ ledger: AdmissionLedger) {
        self.ledger = ledger
    }

    func begin(_ options: AdmissionSystem.Limit, at index: Int) {
        (limit, self.index) = (ConcurrencyLimit(options.perHost, total: options.total), index)
    }

    var stage: AdmissionStage { .limit }

    func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? {
        let caller = request[option: CallerOption.self]
        guard let permit = limit.tryEnter(request, for: endpoint) else { return nil }
        ledger.enter(caller, index)
        return AdmissionPermit(for: permit.origin, context: caller)
    }

    func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
        let caller = request[option: CallerOption.self]
        requests[caller] = request
        ledger.wait(caller, index)
        do {
            let permit = try await limit.enter(request, for: endpoint)
            ledger.stopWaiting(caller, index)
            return AdmissionPermit(for: permit.origin, context: caller)
        } catch {
            ledger.entries[index][caller].position = .outside
            throw error
        }
    }

    /// Receives the head of a response to a caller's request.
    func hear(_ caller: Int, _ request: HTTPRequest, isRefused: Bool) {
        let head = HTTPResponse(isRefused ? .serviceUnavailable : .ok, to: request)
        ledger.hear(caller, index, isRefused: isRefused) { limit.heard(AdmissionPermit(for: request.origin), head) }
    }

    func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
        guard let caller = permit.context as? Int else { return }
        ledger.leave(caller, index) { limit.leave(permit, outcome) }
    }
}

/// A policy that the exploration opens and closes. An open gate admits every request. At a closed gate, every request
/// waits.
final class ManualGate: AdmissionPolicy, @unchecked Sendable {  // because one thread at a time uses it
    var isOpen = true
    private var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
    private let ledger: AdmissionLedger

    init(_ ledger: AdmissionLedger) {
        self.ledger = ledger
    }

    func isWaiting(_ caller: Int) -> Bool { waiters[caller] != nil }

    func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? {
        isOpen ? AdmissionPermit() : nil
    }

    func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
        let caller = request[option: CallerOption.self]
        ledger.nothingIsHeldAtAGate(caller)
        guard !isOpen else { return AdmissionPermit() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    waiters[caller] = continuation
                }
            }
        } onCancel: {
            waiters.removeValue(forKey: caller)?.resume(throwing: CancellationError())
        }
        return AdmissionPermit()
    }

    func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {}

    func open() {
        isOpen = true
        let released = waiters.sorted { $0.key < $1.key }
        waiters = [:]
        for (_, waiter) in released { waiter.resume() }
    }
}
