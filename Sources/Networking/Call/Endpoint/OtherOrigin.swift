/// Whether a request goes to another server than that of its service's environment: what is meant for that server is not for this one.
public enum OtherOrigin: RequestOption {
    /// It goes to the environment's, or there is none.
    public static var defaultOption: Bool { false }
}
