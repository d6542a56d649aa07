import Foundation

/// The server's description of an error: `application/problem+json` of
/// [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457#section-3).
///
/// An endpoint can map a problem to an error of the app (``Endpoint/error(for:)-(ProblemDetails)``), and every error
/// handler can read it: `failure.response?.problem`. A member whose type differs from the RFC's is treated as absent.
public struct ProblemDetails: Hashable, Sendable {
    /// The type of the problem, a URI. Default: `about:blank`, which means that the status describes the problem
    /// completely.
    public var type = "about:blank"
    /// A short text for people, which is the same for every problem of the type.
    public var title: String?
    /// The status that the origin server sent. A proxy may have changed the status of the response.
    public var status: HTTPStatus?
    /// A text for people about this occurrence of the problem.
    public var detail: String?
    /// A URI that identifies this occurrence of the problem.
    public var instance: String?
    /// The members that are specific to the type of the problem.
    public var extensions: [String: JSONValue] = [:]

    /// Decodes the members that are specific to the type of the problem.
    public func extensions<Members: Decodable>(as type: Members.Type) throws -> Members {
        try JSONDecoder().decode(type, from: JSONEncoder().encode(JSONValue.object(extensions)))
    }
}

extension ProblemDetails: CustomStringConvertible {
    /// The members on one line. Control characters and characters that change the text direction are escaped.
    public var description: String {
        let texts = [status.map { "\($0.code)" }, title, detail, type, instance].compactMap(\.self)
        let others = extensions.isEmpty ? [] : ["\(JSONValue.object(extensions))"]
        return (texts + others).joined(separator: ", ").onOneLine
    }
}

extension ProblemDetails: Decodable {
    /// Reads any JSON object.
    public init(from decoder: any Decoder) throws {
        guard case .object(let members) = try JSONValue(from: decoder) else {
            throw DecodingError.typeMismatch(
                [String: JSONValue].self,
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "expected a JSON object"))
        }
        self.init(members)
    }

    init(_ members: [String: JSONValue]) {
        extensions = members
        type = extensions.removeValue(forKey: "type")?.string ?? type
        title = extensions.removeValue(forKey: "title")?.string
        status = extensions.removeValue(forKey: "status")?.int.map { HTTPStatus($0) }
        detail = extensions.removeValue(forKey: "detail")?.string
        instance = extensions.removeValue(forKey: "instance")?.string
    }
}

extension HTTPResponse {
    /// Whether the body is small enough to be read while handlers decide: it has at most 64 KiB.
    var isReadable: Bool { data.count <= 64 << 10 }

    /// The problem details in the body; nil if the media type is not `application/problem+json`, if the body is longer
    /// than 64 KiB, or if the body cannot be read as problem details. In the body, arrays and objects may be nested at
    /// most 64 levels deep.
    public var problem: ProblemDetails? {
        guard headers.contentType?.withoutParameters == .problemJSON, isReadable,
            case .object(let members) = try? JSONValue(shallowJSON: data)
        else { return nil }
        return ProblemDetails(members)
    }
}
