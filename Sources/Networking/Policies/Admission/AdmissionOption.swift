/// Whether a request has to be admitted: `request[option: AdmissionOption.self] = .unlimited`.
public enum AdmissionOption: RequestOption {
    /// What a request may ask for.
    public enum Value: Hashable, Sendable {
        /// It waits for its place like every other: the default.
        case required
        /// It takes no place of a ``ConcurrencyLimit`` and does not count there.
        case unlimited
        /// It is part of a token refresh: it needs no permit, gets no token, waits for no refresh and starts none. The library marks
        /// the calls that a refresh makes by itself; set it by hand where a refresh hops to a queue of its own.
        case refresh
    }

    /// It waits for its place like every other.
    public static let defaultOption = Value.required
}
