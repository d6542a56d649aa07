import Foundation
import Networking

extension FuzzTarget {
    /// The body of an error response: problem details are read again from their JSON.
    static let problemDetails = FuzzTarget("problem-details") { input in
        guard let problem = details(in: Data(input.bytes)) else { return }
        var members = problem.extensions
        members["type"] = .string(problem.type)
        members["title"] = problem.title.map { .string($0) }
        members["status"] = problem.status.map { .int(Int64($0.code)) }
        members["detail"] = problem.detail.map { .string($0) }
        members["instance"] = problem.instance.map { .string($0) }
        let data = try JSONEncoder().encode(JSONValue.object(members))
        guard let again = details(in: data) else {
            throw FuzzViolation(rule: "\(String(decoding: data, as: UTF8.self)) is not read again")
        }
        try require(
            normalized(again) == normalized(problem),
            "\(String(decoding: data, as: UTF8.self)) is another problem than \(problem)")
        try require((try? problem.extensions(as: JSONValue.self)) != nil, "the extensions cannot be read")
    }

    /// Returns the problem with integers in place of equal doubles. A number such as 12345678901234567.5 is rounded to an
    /// integer, and is written as one.
    private static func normalized(_ problem: ProblemDetails) -> ProblemDetails {
        var problem = problem
        problem.extensions = problem.extensions.mapValues(normalized)
        return problem
    }

    private static func normalized(_ value: JSONValue) -> JSONValue {
        switch value {
        case .double(let number):
            Int64(exactly: number).map { .int($0) } ?? UInt64(exactly: number).map { .uint($0) } ?? value
        case .array(let values): .array(values.map(normalized))
        case .object(let members): .object(members.mapValues(normalized))
        default: value
        }
    }

    private static func details(in body: Data) -> ProblemDetails? {
        let headers: HTTPHeaders = [.contentType: "application/problem+json"]
        let request = HTTPRequest(.get, escapedURL)
        return HTTPResponse(.badRequest, headers: headers, content: .data(body), to: request).problem
    }
}
