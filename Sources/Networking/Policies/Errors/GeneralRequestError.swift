public import Foundation

/// The failures that every app reports to its users. A service maps errors to it unless the endpoint or the app has an
/// error of its own; what has no case here stays a ``NetworkError``.
///
/// ```swift
/// do {
///     profile = try await profiles.profile(7)
/// } catch GeneralRequestError.notFound {
///     showEmptyPage()
/// } catch let error as GeneralRequestError {
///     show(error.errorDescription, error.recoverySuggestion)  // for the person with the phone
///     log("\(error)")                                         // noAuth: GET api.example.com/users/7: 401 Unauthorized
/// }
/// ```
///
/// Errors are equal if their codes are; `catch`, `case` and `==` compare nothing else.
public struct GeneralRequestError: Error, Sendable {
    /// Which failure it is.
    public enum Code: Hashable, Sendable, CaseIterable {
        /// The system has no connection to a network.
        case noInternetConnection
        /// The server's name has no address, or the server refuses the connection.
        case cannotConnect
        /// Connecting, waiting for bytes, or the whole call took too long.
        case timedOut
        /// The server does not know who sends the request: 401.
        case noAuth
        /// The server knows who sends the request, and refuses: 403.
        case forbidden
        /// The server has no such resource: 404.
        case notFound
        /// The call was cancelled.
        case cancelled
    }

    /// Which failure it is.
    public let code: Code
    /// The failure with its request, response and underlying error; nil if the error was made by hand.
    public internal(set) var cause: NetworkError?

    /// Makes an error.
    public init(_ code: Code, cause: NetworkError? = nil) {
        self.code = code
        self.cause = cause
    }

    /// ``Code/noInternetConnection``
    public static let noInternetConnection = GeneralRequestError(.noInternetConnection)
    /// ``Code/cannotConnect``
    public static let cannotConnect = GeneralRequestError(.cannotConnect)
    /// ``Code/timedOut``
    public static let timedOut = GeneralRequestError(.timedOut)
    /// ``Code/noAuth``
    public static let noAuth = GeneralRequestError(.noAuth)
    /// ``Code/forbidden``
    public static let forbidden = GeneralRequestError(.forbidden)
    /// ``Code/notFound``
    public static let notFound = GeneralRequestError(.notFound)
    /// ``Code/cancelled``
    public static let cancelled = GeneralRequestError(.cancelled)
}

extension GeneralRequestError: Hashable {
    /// Whether the codes are equal.
    public static func == (lhs: GeneralRequestError, rhs: GeneralRequestError) -> Bool { lhs.code == rhs.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
    }

    /// Whether an error is a general error of the same code: for `catch GeneralRequestError.notFound`.
    public static func ~= (pattern: GeneralRequestError, error: any Error) -> Bool {
        (error as? GeneralRequestError)?.code == pattern.code
    }
}

extension GeneralRequestError: RedactedReflectable {
    /// One line for the developer: the code, then method, host, path and reason. Neither query, credentials nor body.
    var redactedDescription: String { cause.map { "\(code): \($0)" } ?? "\(code)" }
}

extension GeneralRequestError: LocalizedError {
    /// The failure in words for the person with the phone.
    public var errorDescription: String? {
        switch code {
        case .noInternetConnection: "There is no internet connection."
        case .cannotConnect: "The server cannot be reached."
        case .timedOut: "The request took too long."
        case .noAuth: "You are not logged in."
        case .forbidden: "Access is denied."
        case .notFound: "Nothing was found."
        case .cancelled: "The request was cancelled."
        }
    }

    /// What the person with the phone can do, if anything.
    public var recoverySuggestion: String? {
        switch code {
        case .noInternetConnection: "Connect to a network and try again."
        case .cannotConnect, .timedOut: "Try again later."
        case .noAuth: "Log in and try again."
        case .forbidden, .notFound, .cancelled: nil
        }
    }
}

extension GeneralRequestError: BridgedError {
    /// The status or the code of Foundation's that means the same: 401, -1009.
    var bridgedCode: Int {
        switch code {
        case .noInternetConnection: URLError.Code.notConnectedToInternet.rawValue
        case .cannotConnect: URLError.Code.cannotConnectToHost.rawValue
        case .timedOut: URLError.Code.timedOut.rawValue
        case .noAuth: 401
        case .forbidden: 403
        case .notFound: 404
        case .cancelled: URLError.Code.cancelled.rawValue
        }
    }

    /// Description, suggestion, the URL without query and credentials, and the cause.
    var bridgedUserInfo: [String: Any] {
        var info: [String: Any] = [:]
        if let errorDescription { info[NSLocalizedDescriptionKey] = errorDescription }
        if let recoverySuggestion { info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion }
        if let cause {
            info[NSUnderlyingErrorKey] = cause as NSError
            info[NSURLErrorFailingURLErrorKey] = cause.errorUserInfo[NSURLErrorFailingURLErrorKey]
        }
        return info
    }
}

extension Error {
    /// The error with its network error changed; an error of the app's own stays as it is.
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

/// An error of the library's that was made of a network error.
protocol CausedByNetworkError: Error {
    var networkCause: NetworkError? { get }
    mutating func changeCause(_ change: (inout NetworkError) -> Void)
}

extension GeneralRequestError: CausedByNetworkError {
    var networkCause: NetworkError? { cause }

    mutating func changeCause(_ change: (inout NetworkError) -> Void) {
        guard var cause else { return }
        change(&cause)
        self.cause = cause
    }
}
