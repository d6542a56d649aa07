import Foundation

/// The token of a request. If the session has no token, the request has this object, but ``field`` is nil.
final class CarriedToken: HTTPRequest.Attachment {
    /// True: a redirect to another origin removes this object together with the token.
    static var isSensitive: Bool { true }

    /// The number of the request among the requests that the call has sent.
    let number: Int
    /// The generation of the session when the token was added.
    let generation: Int
    let session: UUID
    /// The value of the `Authorization` field with the token. Nil if the session has no token. Also nil if the token
    /// comes from a store that does not keep the ids of sessions, because other sessions may then have the same id.
    let field: String?
    /// The state of the call in its session. Only the session knows the type of this object.
    let call: any AnyObject & Sendable
    /// The statuses with which a server refuses the token. A response with such a status is rejected before any
    /// validator runs, so that it never becomes a result.
    let refusedStatuses: [HTTPStatus]

    init(
        _ number: Int, generation: Int, session: UUID, field: String?, of call: any AnyObject & Sendable,
        refusedBy statuses: [HTTPStatus]
    ) {
        self.number = number
        self.generation = generation
        self.session = session
        self.field = field
        self.call = call
        refusedStatuses = statuses
    }
}
