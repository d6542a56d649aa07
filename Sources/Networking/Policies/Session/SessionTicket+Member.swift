extension SessionTicket {
    /// The state of one call in a session: the session to which the call belongs, and the reasons for which the call
    /// was repeated. It is a value, like ``AccessTokenMachine``.
    package struct Member: Sendable {
        /// Rule 11: the number of the session in which the call began.
        package let session: Int
        /// Rule 10: whether the request is sent without a token if there is none.
        package let isOptional: Bool
        /// Rule 2: whether the call was sent again with a newer token.
        package private(set) var isRepeated = false
        /// Rule 3: the generation of the token that a refresh brought while the call waited. A refusal of this token
        /// ends the call. Nil if the call has not waited for a refresh.
        package private(set) var refreshedGeneration: Int?

        package init(of session: Int, isOptional: Bool = false) {
            self.session = session
            self.isOptional = isOptional
        }

        /// Notes that the call may be sent after it waited for a token.
        ///
        /// - Parameter refreshed: The generation of the token that a refresh has brought; nil if no refresh has brought
        ///   a token.
        package mutating func pass(refreshed: Int?) {
            refreshedGeneration = refreshed ?? refreshedGeneration
        }

        /// Notes that the call has made progress with the token.
        package mutating func advance() { (isRepeated, refreshedGeneration) = (false, nil) }

        /// Returns whether the call may be sent again after its token was refused. It may be sent again once with a
        /// newer token, and once after a refresh.
        ///
        /// - Parameter refreshed: The generation of the token that a refresh has brought; nil for another token.
        package mutating func mayRepeat(refreshed: Int?) -> Bool {
            if let refreshed {
                guard refreshedGeneration == nil else { return false }
                refreshedGeneration = refreshed
                return true
            }
            defer { isRepeated = true }
            return !isRepeated
        }
    }

    /// The facts that the session needs about the token of one request.
    package struct Mark: Sendable {
        /// The generation of the session when the token was added.
        package let generation: Int
        /// The number of the session.
        package let session: Int
        /// Rule 3: whether the token was the current token when its refusal became known; nil before that.
        package internal(set) var wasCurrent: Bool?

        package init(generation: Int, session: Int) {
            self.generation = generation
            self.session = session
        }
    }
}
