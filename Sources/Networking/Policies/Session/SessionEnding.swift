// The errors that end a session: see ``Swift/Error/isEndOfSession``.

extension AccessToken.Rejected: SessionEnding {
    var endsSession: Bool { true }

    /// What the error means for the app.
    static let words = "the session is over, and the user has to log in again"
}

extension SessionEnded: SessionEnding {
    var endsSession: Bool { true }
}

extension TokenUnavailable: SessionEnding {
    var endsSession: Bool { if case .none = self { true } else { false } }
}

extension GeneralRequestError: SessionEnding {
    var endsSession: Bool { [.noAuth, .forbidden].contains(code) }
}

extension RefreshMark {
    /// Returns the cause of an error that a refresh threw. If the refresh threw the error of one of its calls, the
    /// service of this call may have mapped the error to an error of the app. The cause is then the original error.
    func cause(of error: any Error) -> any Error {
        guard !(error is NetworkError), let failure, type(of: failure.error) == type(of: error) else { return error }
        return failure.cause
    }
}
