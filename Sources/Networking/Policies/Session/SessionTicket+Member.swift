package import Foundation

extension SessionTicket {
    /// The state of one call in a session: the session to which the call belongs, and the reasons for which the call
    /// was repeated. It is a value, like ``AccessTokenMachine``.
    package struct Member: Sendable {
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

        /// The session of the call. Nil if there is no session yet: the call then joins the session in which it is
        /// first sent.
        package private(set) var session: UUID?
        package private(set) var repeats: Repeats = []

        package init(of session: UUID?) {
            self.session = session
        }

        /// Whether the call has used up its one refresh. A refusal of the current token then ends the call.
        package var hasRefreshed: Bool { repeats.contains(.afterRefresh) }

        /// Notes that a request is about to be sent with a token of a session. A call without a session joins this
        /// session.
        ///
        /// - Returns: False if the call belongs to another session.
        package mutating func join(_ session: UUID) -> Bool {
            self.session = self.session ?? session
            return self.session == session
        }

        /// Notes that the call may be sent after it waited for a token.
        package mutating func pass(with origin: AccessTokenMachine.Origin) {
            if origin == .refresh { repeats.insert(.afterRefresh) }
        }

        /// Rule 2: returns whether the call may be sent again with the current token.
        package mutating func mayRepeatWithCurrent() -> Bool { repeats.insert(.withCurrent).inserted }

        /// Rule 3: returns whether the call may be sent again after it waited for a refresh. If the app or another
        /// process has set the token during the wait, the call is repeated by rule 2, so that the call may still start
        /// a refresh later.
        package mutating func mayRepeat(with origin: AccessTokenMachine.Origin) -> Bool {
            origin == .elsewhere && repeats.insert(.withCurrent).inserted || repeats.insert(.afterRefresh).inserted
        }
    }
}
