public import Foundation

/// The failures that every app tells its users about, mapped by ``GeneralErrorHandler``.
public enum GeneralRequestError: Error, Hashable, Sendable {
    /// The system has no connection to a network.
    case noInternetConnection
    /// The server's name has no address, or the server does not take the connection.
    case cannotConnect
    /// Connecting, waiting for bytes, or the whole call took too long.
    case timedOut
    /// The server does not know who is asking: 401.
    case noAuth
    /// The server knows who is asking, and refuses: 403.
    case forbidden
    /// There is no such thing: 404.
    case notFound
    /// The call was cancelled.
    case cancelled
}

extension GeneralRequestError: LocalizedError {
    /// The failure in words.
    public var errorDescription: String? {
        switch self {
        case .noInternetConnection: "There is no internet connection."
        case .cannotConnect: "The server cannot be reached."
        case .timedOut: "The request took too long."
        case .noAuth: "Authorization is required."
        case .forbidden: "Access is denied."
        case .notFound: "Nothing was found."
        case .cancelled: "The request was cancelled."
        }
    }
}
