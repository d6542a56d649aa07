import Foundation
import Networking

/// A client of etcd's HTTP gateway with the calls that ``EtcdTokenStore`` needs. In the JSON of the gateway, keys and
/// values are base64, 64-bit numbers are strings, and fields with the value zero are omitted.
struct Etcd: Sendable {
    /// A key, its value, and the revision in which it was last written.
    struct Entry: Decodable, Sendable {
        let key: Data
        let value: Data
        let modRevision: String
    }

    /// The condition for a change.
    enum Condition: Sendable {
        case isAbsent(Data)
        case isUnchanged(Entry)
    }

    /// A change to a key.
    enum Operation: Sendable {
        case put(Data, Data, lease: String?)
        case delete(Data)
    }

    private let service: NetworkService

    init(_ url: URL) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        // Every request may be repeated: a repetition either has no further effect, or grants an additional lease,
        // which expires.
        let retry = RetryPolicy(
            retries: 4, backoff: .exponential(first: .milliseconds(50), limit: .seconds(1)), jitter: .full,
            repeatsUnsafeRequests: true)
        service = NetworkService(environment: NetworkEnvironment(baseURL: url)) {
            $0.backoffGate = BackoffGate(longest: .zero)
            $0.retry = retry
            $0.settings = RequestSettings {
                $0.timeouts.total = .seconds(10)
                $0.decoder = decoder
            }
        }
    }

    func entry(of key: Data) async throws -> Entry? {
        struct Reply: Decodable { let kvs: [Entry]? }
        let reply: Reply = try await call("v3/kv/range", ["key": text(key)])
        return reply.kvs?.first
    }

    /// Applies a change in one transaction, if the condition is true.
    ///
    /// - Returns: Whether the change was applied.
    func change(_ condition: Condition, _ operation: Operation) async throws -> Bool {
        struct Reply: Decodable { let succeeded: Bool? }
        let reply: Reply = try await call(
            "v3/kv/txn", ["compare": [comparison(of: condition)], "success": [request(of: operation)]])
        return reply.succeeded ?? false
    }

    /// Requests a new lease.
    ///
    /// - Returns: The ID of the lease.
    func grantLease(seconds: Int) async throws -> String {
        struct Reply: Decodable {
            let id: String
            enum CodingKeys: String, CodingKey { case id = "ID" }
        }
        let reply: Reply = try await call("v3/lease/grant", ["TTL": .int(Int64(seconds))])
        return reply.id
    }

    /// Renews a lease.
    ///
    /// - Returns: False if the lease has expired.
    func renewLease(_ id: String, within time: Duration) async throws -> Bool {
        struct Result: Decodable {
            let timeToLive: String?
            enum CodingKeys: String, CodingKey { case timeToLive = "TTL" }
        }
        struct Reply: Decodable { let result: Result }
        let limit = RequestSettings { $0.timeouts.total = time }
        let reply: Reply = try await call("v3/lease/keepalive", ["ID": .string(id)], with: limit)
        return reply.result.timeToLive != nil
    }

    func revokeLease(_ id: String) async throws {
        try await service.request(.post("v3/lease/revoke").body(.json(JSONValue.object(["ID": .string(id)]))))
    }

    /// Returns a sequence with an element for each change of a key, and for each progress report of etcd.
    func watch(_ key: Data) async throws -> BodySequence<JSONValue> {
        // etcd sends a progress report every ten minutes, so the idle timeout detects a dead connection.
        let endless = RequestSettings {
            $0.timeouts = HTTPRequest.Timeouts(idle: .seconds(900), total: .seconds(86_400))
        }
        let body = JSONValue.object(["create_request": ["key": text(key), "progress_notify": true]])
        return try await service.request(.post("v3/watch").body(.json(body)), as: .jsonLines(), with: endless)
    }

    private func call<Reply: Decodable & Sendable>(
        _ path: EndpointPath, _ body: JSONValue, with settings: RequestSettings = RequestSettings()
    ) async throws -> Reply {
        try await service.request(.post(path).body(.json(body)), as: .json(Reply.self), with: settings)
    }

    private func comparison(of condition: Condition) -> JSONValue {
        switch condition {
        case .isAbsent(let key):
            ["key": text(key), "target": "CREATE", "result": "EQUAL", "create_revision": "0"]
        case .isUnchanged(let entry):
            ["key": text(entry.key), "target": "MOD", "result": "EQUAL", "mod_revision": .string(entry.modRevision)]
        }
    }

    private func request(of operation: Operation) -> JSONValue {
        switch operation {
        case .put(let key, let value, let lease):
            ["request_put": ["key": text(key), "value": text(value), "lease": .string(lease ?? "0")]]
        case .delete(let key):
            ["request_delete_range": ["key": text(key)]]
        }
    }

    private func text(_ data: Data) -> JSONValue { .string(data.base64EncodedString()) }
}
