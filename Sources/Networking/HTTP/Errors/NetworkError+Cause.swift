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

extension Error {
    /// Returns the error after `change` has changed its network error. Returns an error of the app unchanged.
    func changingCause(_ change: (inout NetworkError) -> Void) -> any Error {
        switch self {
        case var known as NetworkError:
            change(&known)
            return known
        case var caused as any CausedByNetworkError:
            caused.changeCause(change)
            return caused
        default: return self
        }
    }
}

/// Replaces an error of the app in a record. The app's error may contain anything, so only the name of its type is
/// kept.
package struct KeptError: Error {
    package let type: String
}

extension Error {
    /// The name of the error's type; for an error in a record, the name of the original error's type.
    package var typeName: String { (self as? KeptError)?.type ?? "\(type(of: self))" }

    /// Returns a copy of the error for a record. The copy contains no bodies.
    package var kept: any Error {
        switch self {
        case is NetworkError, is any CausedByNetworkError: changingCause { $0 = $0.keptWithoutBodies() }
        case is KeptError: self
        default: KeptError(type: typeName)
        }
    }
}
