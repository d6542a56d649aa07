/// How a session recognises a response that refuses its token, and how it is notified of other responses. The closures
/// retain the state of the session, but not the session. It is a class, because the rules of several calls share it.
final class RefusalRule: Sendable {
    /// Whether the head of a response refuses the token. The answer is known as soon as the head has arrived.
    let head: @Sendable (HTTPResponse) -> Bool
    /// Whether the body of a response refuses the token, although its head does not.
    let body: @Sendable (HTTPResponse) -> Bool
    /// If an attempt sends several requests, receives the response to each request that has advanced the attempt.
    let progress: @Sendable (HTTPResponse) -> Void

    init(
        head: @escaping @Sendable (HTTPResponse) -> Bool, body: @escaping @Sendable (HTTPResponse) -> Bool,
        progress: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        (self.head, self.body, self.progress) = (head, body, progress)
    }
}
