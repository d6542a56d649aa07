public import Foundation

/// The failures that every app reports to its users. A service maps an error to this type, unless the endpoint or the
/// app maps it to another error. A failure for which this type has no code remains a ``NetworkError``.
///
/// ```swift
/// do {
///     profile = try await profiles.profile(7)
/// } catch GeneralRequestError.notFound {
///     showEmptyPage()
/// } catch let error as GeneralRequestError {
///     show(error.errorDescription, error.recoverySuggestion)  // for the user
///     log("\(error)")                                         // noAuth: GET api.example.com/users/7: 401 Unauthorized
/// }
/// ```
///
/// Two errors are equal if their codes are equal; `catch`, `case` and `==` compare nothing else.
public struct GeneralRequestError: Error, Sendable {
    /// The kind of failure.
    public enum Code: Hashable, Sendable, CaseIterable {
        /// The system has no connection to a network.
        case noInternetConnection
        /// The name of the server cannot be resolved, or the server refuses the connection.
        case cannotConnect
        /// Connecting, waiting for bytes, or the whole call took too long.
        case timedOut
        /// The server requires authentication: 401.
        case noAuth
        /// The server refuses the request of an authenticated client: 403.
        case forbidden
        /// The server does not have the resource: 404.
        case notFound
        /// The call was cancelled.
        case cancelled
    }

    /// The kind of failure.
    public let code: Code
    /// The failure with its request, response and underlying error. Nil if the app created the error without a cause.
    public internal(set) var cause: NetworkError?

    /// Creates an error.
    public init(_ code: Code, cause: NetworkError? = nil) {
        self.code = code
        self.cause = cause
    }

    /// The error with the code ``Code/noInternetConnection``.
    public static let noInternetConnection = GeneralRequestError(.noInternetConnection)
    /// The error with the code ``Code/cannotConnect``.
    public static let cannotConnect = GeneralRequestError(.cannotConnect)
    /// The error with the code ``Code/timedOut``.
    public static let timedOut = GeneralRequestError(.timedOut)
    /// The error with the code ``Code/noAuth``.
    public static let noAuth = GeneralRequestError(.noAuth)
    /// The error with the code ``Code/forbidden``.
    public static let forbidden = GeneralRequestError(.forbidden)
    /// The error with the code ``Code/notFound``.
    public static let notFound = GeneralRequestError(.notFound)
    /// The error with the code ``Code/cancelled``.
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
    /// One line for the developer: the code, then method, host, path and reason. It shows no query, credentials or
    /// body.
    var redactedDescription: String { cause.map { "\(code): \($0)" } ?? "\(code)" }
}

extension GeneralRequestError: LocalizedError {
    /// The description of the failure for the user.
    public var errorDescription: String? { texts.description }

    /// The action that the user can take. Nil if there is none.
    public var recoverySuggestion: String? { texts.suggestion }

    private var texts: (description: String, suggestion: String?) {
        switch code {
        case .noInternetConnection: ("There is no internet connection.", "Connect to a network and try again.")
        case .cannotConnect: ("The server cannot be reached.", "Try again later.")
        case .timedOut: ("The request took too long.", "Try again later.")
        case .noAuth: cause?.textsOfRefresh ?? ("You are not logged in.", "Log in and try again.")
        case .forbidden: ("Access is denied.", nil)
        case .notFound: ("Nothing was found.", nil)
        case .cancelled: ("The request was cancelled.", nil)
        }
    }
}

extension GeneralRequestError: BridgedError {
    /// The HTTP status or the `URLError` code with the same meaning: 401, -1009.
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

    /// The description, the suggestion, the URL without query and credentials, and the cause.
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

extension GeneralRequestError: CausedByNetworkError {
    var networkCause: NetworkError? { cause }

    mutating func changeCause(_ change: (inout NetworkError) -> Void) {
        guard var cause else { return }
        change(&cause)
        self.cause = cause
    }
}
