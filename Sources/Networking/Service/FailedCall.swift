/// How a call has failed.
struct FailedCall: Error {
    /// The error that the caller gets.
    let error: any Error
    let report: CallReport
}

extension NetworkError {
    /// The library's own errors with what was sent and received; an error of the app's code stays as it is.
    static func described(
        _ error: any Error, _ request: HTTPRequest?, _ response: HTTPResponse?
    ) -> any Error {
        let known = NetworkError.wrapping(error)
        guard known.kind != .unknown || error is NetworkError else { return error }
        return known.completed(request: request, response: response)
    }
}
