extension AccessTokenSupervisor {
    /// An event of a session, which its supervisor reports once for each occurrence.
    public enum Event: Sendable {
        /// A refresh brought a new token. Save it.
        case refreshed(AccessToken)
        /// A refresh did not reach the server, the server failed, or the store could not be read. The session
        /// continues, and the next call that needs a token tries again.
        case unreachable(any Error)
        /// The server no longer accepts this session, or another process has logged out. Ask the user to log in again.
        /// Until the token changes, this event is not reported again, and authorized calls fail without a refresh.
        case sessionOver(any Error)
        /// The ``AccessTokenStore`` of the supervisor could not save the token, or could not remove the token after a
        /// log-out. Other processes do not know about the change. The supervisor tries again, and reports each failure.
        case notStored(any Error)
    }
}
