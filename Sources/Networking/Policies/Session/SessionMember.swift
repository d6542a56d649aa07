package import Foundation

/// What the token's rules know about one call: the session that it belongs to, and how often it has been sent again
/// because of its token. A value, like ``AccessTokenMachine``.
package struct SessionMember: Sendable {
    /// Why a call was sent again; each is granted once.
    package struct Repeats: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Rule 2: with the current token.
        package static let withCurrent = Repeats(rawValue: 1)
        /// Rule 3: after a refresh.
        package static let afterRefresh = Repeats(rawValue: 2)
    }

    /// Nil if there is none yet: the call joins the one in which it is first sent.
    package private(set) var session: UUID?
    package private(set) var repeats: Repeats = []
    /// How often it has been sent.
    package private(set) var sends = 0
    /// What was found about a token when the server refused it, and which request had carried it.
    private var judged: (send: Int, judgement: AccessTokenMachine.Judgement)?

    package init(of session: UUID?) {
        self.session = session
    }

    /// Whether the call's own refresh has brought a token: a refusal of that one ends the call.
    package var hasRefreshed: Bool { repeats.contains(.afterRefresh) }

    /// The call is about to be sent with a token of a session. A call that belongs to none joins it.
    ///
    /// - Returns: How often it has been sent, with this; nil if it belongs to another session.
    package mutating func join(_ session: UUID) -> Int? {
        self.session = self.session ?? session
        guard self.session == session else { return nil }
        sends += 1
        return sends
    }

    /// The call may be sent, after it has waited for a token.
    package mutating func pass(with origin: AccessTokenMachine.Origin) {
        if origin == .refresh { repeats.insert(.afterRefresh) }
    }

    /// The judgement of the refusal of a request, if it has been made.
    package func judgement(ofSend number: Int) -> AccessTokenMachine.Judgement? {
        judged.flatMap { $0.send == number ? $0.judgement : nil }
    }

    package mutating func note(_ judgement: AccessTokenMachine.Judgement, ofSend number: Int) {
        judged = (number, judgement)
    }

    /// Rule 2: whether the call may be sent again with the current token.
    package mutating func mayRepeatWithCurrent() -> Bool { repeats.insert(.withCurrent).inserted }

    /// Rule 3: whether the call may be sent again, after it has waited for a refresh. A token that another process has
    /// brought counts as a newer one, so that the call may still have it refreshed.
    package mutating func mayRepeat(with origin: AccessTokenMachine.Origin) -> Bool {
        origin == .elsewhere && repeats.insert(.withCurrent).inserted || repeats.insert(.afterRefresh).inserted
    }
}
