import Foundation

/// The token that a request carries, without its value, which only the session knows.
final class CarriedToken: HTTPRequest.Attachment {
    /// True: a redirect to another origin removes it together with the token.
    static var isSensitive: Bool { true }

    /// The number of the request among those that the call has sent.
    let number: Int
    /// The number of the token among those of its session, counted from 0.
    let generation: Int
    let session: UUID
    /// Whether no other session has the id. False if the token comes from a store that does not keep the ids.
    let isNamed: Bool
    /// The state of the call in its session. Only the session knows its type.
    let call: any AnyObject & Sendable
    /// The statuses with which a server refuses the token. They fail a request before any validator runs, so that such
    /// a response is never taken for a result.
    let refusedStatuses: Set<HTTPStatus>

    init(
        _ number: Int, generation: Int, session: UUID, isNamed: Bool, of call: any AnyObject & Sendable,
        refusedBy statuses: Set<HTTPStatus>
    ) {
        self.number = number
        self.generation = generation
        self.session = session
        self.isNamed = isNamed
        self.call = call
        refusedStatuses = statuses
    }
}
