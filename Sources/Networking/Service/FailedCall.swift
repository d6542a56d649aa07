/// The failure of a call: the error and the report.
struct FailedCall: Error {
    /// The error that the caller gets.
    let error: any Error
    let report: CallReport
}

extension NetworkError {
    /// Returns an error of the library with the request and the response added; returns an error of the app's code
    /// unchanged.
    static func described(
        _ error: any Error, _ request: HTTPRequest?, _ response: HTTPResponse?
    ) -> any Error {
        let known = NetworkError.wrapping(error)
        guard known.kind != .unknown || error is NetworkError else { return error }
        return known.completed(request: request, response: response)
    }
}
