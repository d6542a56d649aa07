extension AccessTokenSupervisor {
    /// What happens to a session, as its supervisor reports it: one event for each occurrence.
    public enum Event: Sendable {
        /// A refresh brought a new token: store it.
        case refreshed(AccessToken)
        /// A refresh did not reach the server, or the server failed, or the store could not be read: the session is kept,
        /// and the next call that needs a token tries again.
        case unreachable(any Error)
        /// The server will have no more of this session, or another process has logged out: let the user log in again.
        /// Until the token changes, this is reported once, and authorized calls fail at once.
        case sessionOver(any Error)
        /// The supervisor's ``AccessTokenStore`` could not save the token, or remove it after a log-out; other processes do
        /// not know of it. It is tried again, and reported each time it fails.
        case notStored(any Error)
    }
}
