public import Foundation

/// What one wants to see of an attempt while debugging, next to ``RequestAttempt/request``, ``RequestAttempt/response``, ``RequestAttempt/error`` and
/// ``RequestAttempt/duration``. The body is as it came.
extension RequestAttempt {
    /// The body of the answer, where it is in memory; nil where none came.
    public var data: Data? { response.flatMap { $0.data.isEmpty ? nil : $0.data } }

    /// The body as text, by the charset that the answer names, UTF-8 where it names none; nil where it is none.
    public var text: String? { data == nil ? nil : try? response?.text() }

    /// The body as JSON; nil where it is none.
    public var json: JSONValue? { data.flatMap { try? JSONDecoder().decode(JSONValue.self, from: $0) } }

    /// The request as a command for the `curl` program; nil where none could be made.
    public func curl(redaction: Redaction = .standard) -> CurlCommand? {
        request.map { CurlCommand($0, redaction: redaction) }
    }
}
