/// The tickets of every policy of a service, entered at once; given back exactly once.
struct Permit: ~Copyable {
    private var tickets: [AdmissionTicket]
    private let policies: [any AdmissionPolicy]

    /// Enters every policy. Waits, where it has to, for one policy at a time and without holding a ticket of another.
    /// What is part of a token refresh enters none.
    static func enter(
        _ policies: [any AdmissionPolicy], _ request: HTTPRequest, for endpoint: any Endpoint
    ) async throws -> Permit {
        guard request[option: AdmissionOption.self] != .refresh else { return Permit(tickets: [], policies: policies) }
        var awaited: (index: Int, ticket: AdmissionTicket)?
        while true {
            let (permit, refusing) = try tryEnter(policies, holding: awaited, request, endpoint)
            if let permit { return Permit(tickets: permit, policies: policies) }
            awaited = (refusing, try await policies[refusing].enter(request, for: endpoint))
        }
    }

    /// Every ticket, or the policy that said "not now", with every ticket given back.
    private static func tryEnter(
        _ policies: [any AdmissionPolicy], holding awaited: (index: Int, ticket: AdmissionTicket)?,
        _ request: HTTPRequest, _ endpoint: any Endpoint
    ) throws -> (tickets: [AdmissionTicket]?, refusing: Int) {
        var entered: [(index: Int, ticket: AdmissionTicket)] = awaited.map { [$0] } ?? []
        func leaveAll() {
            for (index, ticket) in entered.reversed() { policies[index].leave(ticket, .notSent) }
        }
        do {
            for index in policies.indices where index != awaited?.index {
                guard let ticket = try policies[index].tryEnter(request, for: endpoint) else {
                    leaveAll()
                    return (nil, index)
                }
                entered.append((index, ticket))
            }
        } catch {
            leaveAll()
            throw error
        }
        if awaited != nil { entered.sort { $0.index < $1.index } }
        return (entered.map(\.ticket), 0)
    }

    private init(tickets: [AdmissionTicket], policies: [any AdmissionPolicy]) {
        self.tickets = tickets
        self.policies = policies
    }

    /// Gives every ticket back, the one entered last first.
    consuming func release(_ outcome: AdmissionOutcome) {
        leave(outcome)
    }

    deinit {
        for index in tickets.indices.reversed() { policies[index].leave(tickets[index], .notSent) }
    }

    private mutating func leave(_ outcome: AdmissionOutcome) {
        let tickets = tickets
        self.tickets = []  // so that the deinit finds none
        for index in tickets.indices.reversed() { policies[index].leave(tickets[index], outcome) }
    }
}
