import Foundation

extension CallReport: RedactedReflectable {
    /// One line: `GET api.example.com/users/7: 200 OK in 0.4 s, 2 attempts`. It contains no query, credentials or body.
    var redactedDescription: String {
        let subject = request?.description ?? endpoint.map { $0.urlTemplate } ?? "a call"
        let outcome =
            status.map(\.description) ?? (error as? NetworkError ?? attempts.last?.error as? NetworkError)?.kind
            .description
            ?? error.map { "\(type(of: $0))" } ?? "completed"
        let count = attempts.count
        let fault = status == nil ? nil : attempts.last?.fault
        return "\(subject): \(outcome)\(fault.map { ", \($0)," } ?? "") in \(duration.shortText)"
            + (count > 1 ? ", \(count) attempts" : "")
    }
}

extension RequestAttempt {
    /// The error, if the status does not show it.
    var fault: String? {
        guard let error else { return nil }
        guard let known = error as? NetworkError else { return "\(type(of: error))" }
        return known.kind == .unacceptableStatus ? nil : known.kind.description
    }
}
