import Foundation

/// What went wrong, in the server's words: `application/problem+json` of [RFC
/// 9457](https://www.rfc-editor.org/rfc/rfc9457#section-3).
///
/// An endpoint may say what a problem means to the app (``Endpoint/error(for:)-(ProblemDetails)``), and every error
/// handler can read it: `failure.problem`. A member of another type than the RFC's is as good as absent.
public struct ProblemDetails: Hashable, Sendable {
    /// What kind of problem it is: a URI, `about:blank` where the status says all.
    public var type: String
    /// A short text for people, the same for every problem of the type.
    public var title: String?
    /// The status that the origin server gave, which a proxy may have changed on its way.
    public var status: HTTPStatus?
    /// A text for people about this very problem.
    public var detail: String?
    /// A URI of this very problem.
    public var instance: String?
    /// The members that the problem's type adds.
    public var extensions: [String: JSONValue]

    /// Makes problem details.
    package init(
        type: String = "about:blank", title: String? = nil, status: HTTPStatus? = nil, detail: String? = nil,
        instance: String? = nil, extensions: [String: JSONValue] = [:]
    ) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.instance = instance
        self.extensions = extensions
    }

    /// The members that the problem's type adds, as a type of yours.
    public func extensions<Members: Decodable>(as type: Members.Type) throws -> Members {
        try JSONDecoder().decode(type, from: JSONEncoder().encode(JSONValue.object(extensions)))
    }
}

extension ProblemDetails: Decodable {
    /// Reads any JSON object.
    public init(from decoder: any Decoder) throws {
        guard case .object(var members) = try JSONValue(from: decoder) else {
            throw DecodingError.typeMismatch(
                [String: JSONValue].self,
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "problem details are an object")
            )
        }
        self.init(
            type: members.removeValue(forKey: "type")?.string ?? "about:blank",
            title: members.removeValue(forKey: "title")?.string,
            status: members.removeValue(forKey: "status")?.int.map { HTTPStatus($0) },
            detail: members.removeValue(forKey: "detail")?.string,
            instance: members.removeValue(forKey: "instance")?.string)
        extensions = members
    }
}

extension HTTPResponse {
    /// The problem that the body tells of, where it says that it does and is one; nil for any other body.
    public var problem: ProblemDetails? {
        guard headers.contentType?.withoutParameters == .problemJSON else { return nil }
        return try? JSONDecoder().decode(ProblemDetails.self, from: data)
    }
}
