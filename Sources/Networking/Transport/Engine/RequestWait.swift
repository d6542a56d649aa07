/// The reason why a call waits.
public enum RequestWait: Sendable {
    /// An admission policy delays the call until it has a permit or an access token. The value is the name of the
    /// policy's type.
    case admission(policy: String)
    /// An attempt has failed, and another attempt follows after a delay. A delay of zero means immediately.
    case retry(after: Duration, RetryDecision)
    /// The system has no network connection.
    case connectivity
    /// The call is paused.
    case paused
}
