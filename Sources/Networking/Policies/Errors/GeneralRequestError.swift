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

extension GeneralRequestError: CustomNSError {
    /// `Networking.GeneralRequestError`, for whoever sees the error as an `NSError`.
    public static var errorDomain: String { "Networking.GeneralRequestError" }

    /// The status or the code of Foundation's that says the same: 401, -1009.
    public var errorCode: Int {
        switch self {
        case .noInternetConnection: URLError.Code.notConnectedToInternet.rawValue
        case .cannotConnect: URLError.Code.cannotConnectToHost.rawValue
        case .timedOut: URLError.Code.timedOut.rawValue
        case .noAuth: 401
        case .forbidden: 403
        case .notFound: 404
        case .cancelled: URLError.Code.cancelled.rawValue
        }
    }
}

extension GeneralRequestError {
    /// The text and the hint.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [:]
        if let errorDescription { info[NSLocalizedDescriptionKey] = errorDescription }
        if let recoverySuggestion { info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion }
        return info
    }
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

    /// What may help, where something does.
    public var recoverySuggestion: String? {
        switch self {
        case .noInternetConnection: "Connect to a network and try again."
        case .cannotConnect, .timedOut: "Try again."
        case .noAuth: "Log in and try again."
        case .forbidden, .notFound, .cancelled: nil
        }
    }
}
