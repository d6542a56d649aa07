import Foundation
import Networking

extension FuzzTarget {
    /// The body of an error response. Problem details do not change if they are written as JSON and read again.
    static let problemDetails = FuzzTarget("problem-details") { input in
        let document = input.bytes.count > 64 << 10 ? nil : try? JSONValue(shallowJSON: Data(input.bytes))
        guard let problem = details(in: Data(input.bytes)) else {
            return try require(document?.object == nil, "an object is not read")
        }
        try requireAll(document?.object ?? [:], in: problem)
        var members = problem.extensions
        members["type"] = .string(problem.type)
        members["title"] = problem.title.map { .string($0) }
        members["status"] = problem.status.map { .int(Int64($0.code)) }
        members["detail"] = problem.detail.map { .string($0) }
        members["instance"] = problem.instance.map { .string($0) }
        let data = try JSONEncoder().encode(JSONValue.object(members))
        guard data.count <= 64 << 10 else { return }
        guard let again = details(in: data) else {
            throw FuzzViolation(rule: "\(String(decoding: data, as: UTF8.self)) is not read again")
        }
        try require(again == problem, "\(String(decoding: data, as: UTF8.self)) is not read as \(problem)")
        try require((try? problem.extensions(as: JSONValue.self)) != nil, "the extensions cannot be read")
    }

    /// Checks that the problem has all members of the document.
    private static func requireAll(_ document: [String: JSONValue], in problem: ProblemDetails) throws {
        var others = document
        let texts = [
            "type": problem.type, "title": problem.title, "detail": problem.detail, "instance": problem.instance,
        ]
        for (name, found) in texts {
            guard let text = others.removeValue(forKey: name)?.string else { continue }
            try require(found ?? "", equals: text, name)
        }
        if let status = others.removeValue(forKey: "status")?.int {
            try require(problem.status?.code, equals: status, "status")
        }
        try require(problem.extensions, equals: others, "the extensions")
    }

    private static func details(in body: Data) -> ProblemDetails? {
        let headers: HTTPHeaders = [.contentType: "application/problem+json"]
        let request = HTTPRequest(.get, escapedURL)
        return HTTPResponse(.badRequest, headers: headers, content: .data(body), to: request).problem
    }
}
