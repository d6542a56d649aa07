/// Which token a request carries, and what was found about it when the server refused it.
///
/// The gate hears of a refusal first, so that a refresh runs before the place is handed on; the handler asks next and must get the
/// same answer, whatever has happened in between.
final class SentToken: CarriedToken {
    /// Whose token it is.
    let supervisor: ObjectIdentifier
    let generation: Int
    let judgement = Locked<AccessTokenMachine.Judgement?>(nil)

    init(of supervisor: AccessTokenSupervisor, generation: Int) {
        self.supervisor = ObjectIdentifier(supervisor)
        self.generation = generation
    }
}

/// How often a call has been sent again because of its token; it travels with the call's original request.
struct TokenRepeats: OptionSet, RequestOption, Sendable {
    static var defaultOption: TokenRepeats { [] }

    let rawValue: UInt8

    /// By rule 2, with the current token.
    static let withCurrent = TokenRepeats(rawValue: 1)
    /// By rule 3, after a refresh.
    static let afterRefresh = TokenRepeats(rawValue: 2)
}
