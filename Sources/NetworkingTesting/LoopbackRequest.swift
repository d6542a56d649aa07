public import Foundation
public import Networking

/// A request as the server received it.
public struct LoopbackRequest: Sendable {
    /// The method.
    public let method: HTTPMethod
    /// The request target as it came on the wire: path and query, percent-encoded.
    public let target: String
    /// The header fields in order, each as it came, duplicates included.
    public let fields: [HTTPHeader]
    /// The body, pulled from the connection while it arrives. It can be read once; ``data()`` is the short way.
    public let body: IncomingBody
    /// The number of the connection, counted from 1: equal for requests that came over the same one.
    public let connection: Int
    /// What the pattern of the route's path matched, percent-decoded: `["id": "7"]` for `/users/:id`.
    public internal(set) var parameters: [String: String] = [:]

    /// The header fields by name.
    public var headers: HTTPHeaders {
        var headers = HTTPHeaders()
        for field in fields { headers.append(field) }
        return headers
    }

    /// The path, percent-encoded.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The query, percent-encoded, without the question mark; nil if there is none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The whole body.
    ///
    /// - Parameter limit: The most bytes to take, 64 MiB unless said otherwise.
    public func data(upTo limit: Int = 64 << 20) async throws -> Data {
        try await body.collect(upTo: limit)
    }

    /// The body decoded from JSON.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) async throws -> Value {
        try JSONDecoder().decode(type, from: await data())
    }
}
