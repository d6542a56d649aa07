// What follows from the responses to requests that carry a token: rules 2, 3 and 11.
//
// The machine is notified of a refusal twice: when the refusal becomes known, and when the error handlers of the call
// have reached the handler of the session. Between the two notifications, the call does not wait for the machine. If no
// other handler can decide first, the refresh begins at the first notification, otherwise at the second.
extension AccessTokenMachine {
    /// An endpoint that has refused a token: its method and template, and the status of the refusal.
    package struct RefusingEndpoint: Hashable, Sendable {
        package let name: String
        package let status: Int

        package init(_ name: String, status: Int) {
            self.name = name
            self.status = status
        }
    }

    /// The maximum number of endpoints in ``refusing``.
    static let maximumRefusing = 64

    /// The session number that marks tokens of ended sessions. No session has this number.
    static let endedNumber = -1

    /// Rule 5: the server has responded to a request, and has not refused its token.
    ///
    /// - Parameter endpoint: The name of the endpoint; nil if the response does not show that the endpoint accepts the
    ///   token.
    package mutating func hear(acceptanceOf mark: SessionTicket.Mark, by endpoint: @autoclosure () -> String?) {
        guard isCurrent(mark) else { return }
        isUntried = false
        guard !refusing.isEmpty, let endpoint = endpoint() else { return }
        refusing.removeAll { $0.name == endpoint }
    }

    /// Rule 3: the server has refused the token of a request. Notes whether the token was the current token at that
    /// time, and starts the refresh if the handler of the session is the first handler that can decide.
    package mutating func hear(
        refusalOf mark: inout SessionTicket.Mark, by endpoint: RefusingEndpoint, in member: SessionTicket.Member,
        startsRefresh: Bool
    ) -> [Effect] {
        guard mark.wasCurrent == nil else { return [] }
        note(&mark, endpoint, member)
        guard startsRefresh, isCurrent(mark), mark.generation == generation, over == nil || hasStore else { return [] }
        return unavailability(for: member, endpoint) == nil ? requireRefresh() : []
    }

    /// Rules 2, 3 and 11: the error handlers of a call whose token was refused have reached the handler of the session.
    /// An effect ends the wait: the call is sent again, or it ends with its refusal.
    package mutating func arrive(
        _ waiter: Waiter, with mark: inout SessionTicket.Mark, by endpoint: RefusingEndpoint,
        in member: SessionTicket.Member
    ) -> [Effect] {
        note(&mark, endpoint, member)
        guard mark.session == sessionNumber else { return [.fail(waiter, SessionEnded())] }
        guard token != nil else { return [.fail(waiter, TokenUnavailable.none)] }
        guard isCurrent(mark) else {
            // If a refresh has replaced the token since the head arrived, the call has waited for this refresh, too.
            return [.release(waiter, refreshed: mark.wasCurrent == true ? refreshedGeneration : nil)]
        }
        if let failure, mark.generation <= failure.generation { return [.fail(waiter, failure.error)] }
        if let over, !hasStore { return [.fail(waiter, over)] }
        if let reason = unavailability(for: member, endpoint) { return [.fail(waiter, reason)] }
        return requireRefresh(for: Waiting(id: waiter, session: mark.session))
    }

    /// The generation of the current token if a refresh has brought it.
    var refreshedGeneration: Int? { tokenOrigin == .refresh ? tokenGeneration : nil }

    private func isCurrent(_ mark: SessionTicket.Mark) -> Bool {
        mark.session == sessionNumber && mark.generation >= tokenGeneration
    }

    private mutating func note(
        _ mark: inout SessionTicket.Mark, _ endpoint: RefusingEndpoint, _ member: SessionTicket.Member
    ) {
        guard mark.wasCurrent == nil else { return }
        mark.wasCurrent = isCurrent(mark)
        guard isCurrent(mark) else { return }
        (isUntried, hasWrongExpiry) = (false, false)
        guard let brought = member.refreshedGeneration, brought == refreshedGeneration, !refusing.contains(endpoint)
        else { return }
        if refusing.count == Self.maximumRefusing { refusing.removeFirst() }
        refusing.append(endpoint)
    }

    /// Returns the reason why no refresh follows the refusal of the current token; nil if a refresh follows.
    private func unavailability(
        for member: SessionTicket.Member, _ endpoint: RefusingEndpoint
    ) -> TokenUnavailable? {
        guard mayRefresh else { return .fixed }
        // A refresh for this call has already brought a token. If the app has set another token since then, that token
        // is refreshed.
        if member.refreshedGeneration != nil, tokenOrigin == .refresh { return .refusedAgain }
        return refusing.contains(endpoint) ? .refusedAgain : nil
    }
}

/// The reason why no refresh brings a token for a refused call.
package enum TokenUnavailable: Error, CustomStringConvertible {
    /// There is no token: the user is logged out.
    case none
    /// The token of the session is never replaced.
    case fixed
    /// The endpoint has refused a token that a refresh had just brought.
    case refusedAgain
    /// Code inside the refresh asks for the token that this refresh has to get.
    case insideRefresh

    package var description: String {
        switch self {
        case .none: "the session has no token"
        case .fixed: "the token of the session is fixed"
        case .refusedAgain: "the server has also refused the token of the last refresh"
        case .insideRefresh: "a token refresh cannot wait for its own token"
        }
    }
}

/// The session in which the call began has ended: the user has logged out, or another user has logged in.
struct SessionEnded: Error {}
