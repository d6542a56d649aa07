import Foundation
import Networking

/// etcd's HTTP gateway, as far as ``EtcdTokenStore`` needs it. Keys and values are base64, numbers are strings, and
/// zeros are left out.
struct Etcd: Sendable {
    /// A key's value, and the revision in which it was written.
    struct Entry: Decodable, Sendable {
        let key: Data
        let value: Data
        let modRevision: String
    }

    /// What has to hold for a change.
    enum Condition: Sendable {
        case isAbsent(Data)
        case isUnchanged(Entry)
    }

    /// A change.
    enum Operation: Sendable {
        case put(Data, Data, lease: String?)
        case delete(Data)
    }

    private let service: NetworkService

    init(_ url: URL) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        // Everything here may be sent twice: it does the same again, or a lease too many that ends by itself.
        let retry = RetryPolicy(
            retries: 4, backoff: .exponential(first: .milliseconds(50), limit: .seconds(1)), jitter: .full,
            repeatsUnsafeRequests: true)
        service = NetworkService(environment: NetworkEnvironment(baseURL: url)) {
            $0.backoffGate = BackoffGate(longest: .zero)
            $0.retry = retry
            $0.settings = RequestSettings(timeouts: HTTPRequest.Timeouts(total: .seconds(10)), decoder: decoder)
        }
    }

    func entry(of key: Data) async throws -> Entry? {
        struct Reply: Decodable { let kvs: [Entry]? }
        let reply: Reply = try await call("v3/kv/range", ["key": text(key)])
        return reply.kvs?.first
    }

    /// Makes a change, if the condition holds.
    ///
    /// - Returns: Whether it did.
    func change(_ condition: Condition, _ operation: Operation) async throws -> Bool {
        struct Reply: Decodable { let succeeded: Bool? }
        let reply: Reply = try await call(
            "v3/kv/txn", ["compare": [comparison(of: condition)], "success": [request(of: operation)]])
        return reply.succeeded ?? false
    }

    /// - Returns: The lease's id.
    func grantLease(seconds: Int) async throws -> String {
        struct Reply: Decodable {
            let id: String
            enum CodingKeys: String, CodingKey { case id = "ID" }
        }
        let reply: Reply = try await call("v3/lease/grant", ["TTL": .int(Int64(seconds))])
        return reply.id
    }

    /// - Returns: False if the lease has ended.
    func renewLease(_ id: String, within time: Duration) async throws -> Bool {
        struct Result: Decodable {
            let timeToLive: String?
            enum CodingKeys: String, CodingKey { case timeToLive = "TTL" }
        }
        struct Reply: Decodable { let result: Result }
        let limit = RequestSettings(timeouts: HTTPRequest.Timeouts(total: time))
        let reply: Reply = try await call("v3/lease/keepalive", ["ID": .string(id)], with: limit)
        return reply.result.timeToLive != nil
    }

    func revokeLease(_ id: String) async throws {
        try await service.request(.post("v3/lease/revoke").body(.json(JSONValue.object(["ID": .string(id)]))))
    }

    /// An element for each time that a key is written or removed.
    func watch(_ key: Data) async throws -> BodySequence<JSONValue> {
        // etcd reports each ten minutes that the watch goes on, so that a dead connection is noticed.
        let endless = RequestSettings(timeouts: HTTPRequest.Timeouts(idle: .seconds(900), total: .seconds(86_400)))
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
