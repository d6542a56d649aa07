/// The tickets of every policy of a service, entered at once; given back exactly once.
///
/// The call's scope has it, so that a transport that lets the call wait for the transfer of another one releases it early.
final class Permit: TransferPermit {
    private struct Holding: Sendable {
        /// One for each policy; empty once they have been given back.
        var tickets: [AdmissionTicket] = []
        /// Released with the tickets: a response that is kept has its request, and so its permit.
        var policies: [any AdmissionPolicy] = []
    }

    private let holding: Locked<Holding>

    var isHeld: Bool { holding.withLock { !$0.tickets.isEmpty } }

    private init(_ holding: Holding) {
        self.holding = Locked(holding)
    }

    /// Enters every policy. Waits, where it has to, for one policy at a time and without holding a ticket of another.
    /// What is part of a token refresh enters none.
    ///
    /// - Parameter noteWait: Is told of each policy that has to be waited for.
    static func enter(
        _ policies: [any AdmissionPolicy], _ request: HTTPRequest, for endpoint: any Endpoint,
        noteWait: (any AdmissionPolicy) -> Void = { _ in }
    ) async throws -> Permit {
        guard request[option: AdmissionOption.self] != .refresh else { return Permit(Holding()) }
        var entry = try enterAll(policies, request, endpoint)
        while case .refused(let index) = entry {
            noteWait(policies[index])
            let ticket = try await policies[index].enter(request, for: endpoint)
            entry = try enterAll(policies, but: index, with: ticket, request, endpoint)
        }
        guard case .entered(let tickets) = entry else { return Permit(Holding()) }
        return Permit(Holding(tickets: tickets, policies: policies))
    }

    private enum Entry {
        case entered([AdmissionTicket])
        /// The policy that said "not now"; every ticket has been given back.
        case refused(by: Int)
    }

    /// Takes every ticket, besides the one that is there already.
    private static func enterAll(
        _ policies: [any AdmissionPolicy], but entered: Int? = nil, with held: AdmissionTicket? = nil,
        _ request: HTTPRequest, _ endpoint: any Endpoint
    ) throws -> Entry {
        var tickets: [AdmissionTicket] = []
        tickets.reserveCapacity(policies.count)
        /// Gives back what has been taken so far, and the one held, wherever it stands.
        func giveBack() {
            if let entered, let held, entered >= tickets.count { policies[entered].leave(held, .notSent) }
            for index in tickets.indices.reversed() { policies[index].leave(tickets[index], .notSent) }
        }
        do {
            for index in policies.indices {
                if index == entered, let held {
                    tickets.append(held)
                } else if let ticket = try policies[index].tryEnter(request, for: endpoint) {
                    tickets.append(ticket)
                } else {
                    giveBack()
                    return .refused(by: index)
                }
            }
            return .entered(tickets)
        } catch {
            giveBack()
            throw error
        }
    }

    /// Gives every ticket back, the one entered last first, unless that has happened.
    func release(_ outcome: AdmissionOutcome) {
        let held = take()
        for index in held.tickets.indices.reversed() { held.policies[index].leave(held.tickets[index], outcome) }
    }

    private func take() -> Holding {
        holding.withLock { holding in
            defer { holding = Holding() }
            return holding
        }
    }

    /// Gives every ticket back after an answer, whatever its status.
    ///
    /// Not inlined: the outcome is big, and must not become part of the function that waits for the answer.
    @inline(never)
    func release(after response: HTTPResponse) {
        release(.answered(response))
    }

    func release(after outcome: Result<HTTPResponse, any Error>?) {
        switch outcome {
        case .success(let response): release(.answered(response))
        case .failure(let error): release(.failed(error))
        case nil: release(.notSent)
        }
    }

    func handOver() -> (any TransferPermit)? {
        let moved = take()
        return moved.tickets.isEmpty ? nil : Permit(moved)
    }

    deinit {
        release(.notSent)
    }
}
