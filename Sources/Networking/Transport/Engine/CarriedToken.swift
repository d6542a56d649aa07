import Foundation

/// The token of a request, without the token's value, which only the session knows.
final class CarriedToken: HTTPRequest.Attachment {
    /// True: a redirect to another origin removes it together with the token.
    static var isSensitive: Bool { true }

    /// The number of the request among the requests that the call has sent.
    let number: Int
    /// The number of the token among the tokens of its session, counted from 0.
    let generation: Int
    let session: UUID
    /// Whether no other session has the id. False if the token comes from a store that does not keep the ids.
    let isNamed: Bool
    /// The state of the call in its session. Only the session knows its type.
    let call: any AnyObject & Sendable
    /// The statuses with which a server refuses the token. A response with such a status is rejected before any
    /// validator runs, so that it never becomes a result.
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
