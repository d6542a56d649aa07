package import Foundation

/// The state of one call in a session: the session to which the call belongs, the number of times that the call was
/// sent, and the reasons for which the call was repeated. It is a value, like ``AccessTokenMachine``.
package struct SessionMember: Sendable {
    /// The reasons to send a call again. Each reason is granted once.
    package struct Repeats: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Rule 2: the call is sent again with the current token.
        package static let withCurrent = Repeats(rawValue: 1)
        /// Rule 3: the call is sent again after a refresh.
        package static let afterRefresh = Repeats(rawValue: 2)
    }

    /// The session of the call. Nil if there is no session yet: the call then joins the session in which it is first
    /// sent.
    package private(set) var session: UUID?
    package private(set) var repeats: Repeats = []
    /// The number of times that the call was sent.
    package private(set) var sends = 0
    /// The judgement of the last refusal, and the number of the refused request.
    private var judged: (send: Int, judgement: AccessTokenMachine.Judgement)?

    package init(of session: UUID?) {
        self.session = session
    }

    /// Whether the call has used up its one refresh. A refusal of the current token then ends the call.
    package var hasRefreshed: Bool { repeats.contains(.afterRefresh) }

    /// Counts a request that is about to be sent with a token of a session. A call without a session joins this
    /// session.
    ///
    /// - Returns: The number of times that the call was sent, including this time. Nil if the call belongs to another
    ///   session.
    package mutating func join(_ session: UUID) -> Int? {
        self.session = self.session ?? session
        guard self.session == session else { return nil }
        sends += 1
        return sends
    }

    /// Notes that the call may be sent after it waited for a token.
    package mutating func pass(with origin: AccessTokenMachine.Origin) {
        if origin == .refresh { repeats.insert(.afterRefresh) }
    }

    /// Returns the judgement about the refusal of the request with this number. Nil if there is no judgement yet.
    package func judgement(ofSend number: Int) -> AccessTokenMachine.Judgement? {
        judged.flatMap { $0.send == number ? $0.judgement : nil }
    }

    package mutating func note(_ judgement: AccessTokenMachine.Judgement, ofSend number: Int) {
        judged = (number, judgement)
    }

    /// Rule 2: returns whether the call may be sent again with the current token.
    package mutating func mayRepeatWithCurrent() -> Bool { repeats.insert(.withCurrent).inserted }

    /// Rule 3: returns whether the call may be sent again after it waited for a refresh. If the app or another process
    /// has set the token during the wait, the call is repeated by rule 2, so that the call may still start a refresh
    /// later.
    package mutating func mayRepeat(with origin: AccessTokenMachine.Origin) -> Bool {
        origin == .elsewhere && repeats.insert(.withCurrent).inserted || repeats.insert(.afterRefresh).inserted
    }
}
