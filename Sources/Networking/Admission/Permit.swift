/// The tickets of every policy of a service, entered at once; given back exactly once.
struct Permit: ~Copyable {
    /// One for each policy; nil where there is none.
    private var tickets: [AdmissionTicket?]
    private let policies: [any AdmissionPolicy]

    /// Enters every policy. Waits, where it has to, for one policy at a time and without holding a ticket of another.
    /// What is part of a token refresh enters none.
    static func enter(
        _ policies: [any AdmissionPolicy], _ request: HTTPRequest, for endpoint: any Endpoint
    ) async throws -> Permit {
        var permit = Permit(tickets: [], policies: policies)
        guard request[option: AdmissionOption.self] != .refresh else { return permit }
        var refusing = try permit.enterAll(but: nil, request, endpoint)
        while let index = refusing {
            let ticket = try await policies[index].enter(request, for: endpoint)
            refusing = try permit.enterAll(but: (index, ticket), request, endpoint)
        }
        return permit
    }

    /// Takes every ticket, besides the one that is there already.
    ///
    /// - Returns: The policy that said "not now", in which case every ticket has been given back.
    private mutating func enterAll(
        but held: (index: Int, ticket: AdmissionTicket)?, _ request: HTTPRequest, _ endpoint: any Endpoint
    ) throws -> Int? {
        tickets = Array(repeating: nil, count: policies.count)
        if let held { tickets[held.index] = held.ticket }
        do {
            for index in policies.indices where index != held?.index {
                guard let ticket = try policies[index].tryEnter(request, for: endpoint) else {
                    leave(.notSent)
                    return index
                }
                tickets[index] = ticket
            }
            return nil
        } catch {
            leave(.notSent)
            throw error
        }
    }

    private init(tickets: [AdmissionTicket?], policies: [any AdmissionPolicy]) {
        self.tickets = tickets
        self.policies = policies
    }

    /// Gives every ticket back, the one entered last first.
    consuming func release(_ outcome: AdmissionOutcome) {
        leave(outcome)
    }

    /// Gives every ticket back after an answer, whatever its status.
    ///
    /// Not inlined: the outcome is big, and must not become part of the function that waits for the answer.
    @inline(never)
    consuming func release(after response: HTTPResponse) {
        leave(.answered(response))
    }

    deinit {
        for index in tickets.indices.reversed() {
            if let ticket = tickets[index] { policies[index].leave(ticket, .notSent) }
        }
    }

    private mutating func leave(_ outcome: AdmissionOutcome) {
        let tickets = tickets
        self.tickets = []  // so that the deinit finds none
        for index in tickets.indices.reversed() {
            if let ticket = tickets[index] { policies[index].leave(ticket, outcome) }
        }
    }
}
