/// An error of the library that was created from a network error.
protocol CausedByNetworkError: Error {
    var networkCause: NetworkError? { get }
    mutating func changeCause(_ change: (inout NetworkError) -> Void)
}

extension Error {
    /// The error itself if it is a network error; otherwise the network error from which the library created it.
    var originalNetworkError: NetworkError? {
        self as? NetworkError ?? (self as? any CausedByNetworkError)?.networkCause
    }
}
