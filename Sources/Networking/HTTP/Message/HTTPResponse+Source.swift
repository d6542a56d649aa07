extension HTTPResponse {
    /// Where a response comes from.
    public enum Source: Hashable, Sendable {
        /// The server sent the response for this request, or for an equal request that was in progress.
        case network
        /// The response was stored in the service's ``ResponseCache``, and nothing was sent for it.
        case cache
        /// The response was stored in the service's ``ResponseCache``, and the server has confirmed that the response
        /// is current.
        case revalidated

        /// The source in words, for reports; nil for the network.
        var note: String? {
            switch self {
            case .network: nil
            case .cache: "from the cache"
            case .revalidated: "from the cache, confirmed by the server"
            }
        }
    }
}
