public import Foundation
public import Networking

/// A request that a ``LoopbackServer`` received.
public struct LoopbackRequest: Sendable {
    /// The method, as the client sent it.
    public let method: HTTPMethod
    /// The request target as the client sent it: path and query, percent-encoded.
    public let target: String
    /// The header fields in the order in which the client sent them, including duplicates.
    public let fields: [HTTPHeader]
    /// The body, read from the connection while it arrives. It can be read once. To read it as a whole, call
    /// ``data(upTo:)``.
    public let body: IncomingBody
    /// The number of the connection, counted from 1. Requests on the same connection have the same number.
    public let connection: Int
    /// The path segments that matched the parameters of the route, percent-decoded: `["id": "7"]` for `/users/:id`.
    public internal(set) var parameters: [String: String] = [:]

    /// The header fields, for access by name.
    public var headers: HTTPHeaders {
        var headers = HTTPHeaders()
        for field in fields { headers.append(field) }
        return headers
    }

    /// The path, percent-encoded.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The query, percent-encoded, without the question mark. Nil if the target has no query.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// Reads and returns the whole body.
    ///
    /// - Parameter limit: The maximum number of bytes. Default: 64 MiB.
    public func data(upTo limit: Int = 64 << 20) async throws -> Data {
        try await body.collect(upTo: limit)
    }

    /// Reads the whole body, at most 64 MiB, and decodes it from JSON.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) async throws -> Value {
        try JSONDecoder().decode(type, from: await data())
    }
}
