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
        try require(again == problem, "\(String(decoding: data, as: UTF8.self)) is another problem than \(problem)")
        try require((try? problem.extensions(as: JSONValue.self)) != nil, "the extensions cannot be read")
    }

    private static func details(in body: Data) -> ProblemDetails? {
        let headers: HTTPHeaders = [.contentType: "application/problem+json"]
        let request = HTTPRequest(.get, escapedURL)
        return HTTPResponse(.badRequest, headers: headers, content: .data(body), to: request).problem
    }
}
