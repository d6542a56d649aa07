import Foundation
public import Networking

extension Outbox {
    /// A type of endpoints that an outbox can store, with a name and a version. The outbox uses the name and the
    /// version to find the type of a stored entry.
    ///
    /// ```swift
    /// let endpoints: [Outbox.Kind] = [
    ///     .init(CommentEndpoint.self, name: "comment", version: 2),
    ///     .init(name: "comment", version: 1) { (old: OldComment) in CommentEndpoint.add(to: old.post, old.text) },
    /// ]
    /// ```
    ///
    /// If the outbox does not know the name or the version of an entry, it reports the entry
    /// (``Entry/State/unreadable(reason:)``). The entry then waits for a version of the app that knows both. The body
    /// is stored with the entry, so an entry of an earlier version is sent with its original body.
    public struct Kind: Sendable {
        let name: String
        let version: Int
        /// The type that is stored; nil for a version that is only read.
        let type: ObjectIdentifier?
        let encode: @Sendable (any Endpoint) throws -> Data
        let decode: @Sendable (Data) throws -> any Endpoint

        /// Creates the kind of a type.
        ///
        /// - Parameters:
        ///   - type: The type of the endpoints.
        ///   - name: A name that never changes.
        ///   - version: The version of the type's encoding. Increase it with each change after which an older encoding
        ///     can no longer be decoded. Default: 1.
        public init<Call: Endpoint & Codable>(_ type: Call.Type, name: String, version: Int = 1) {
            (self.name, self.version, self.type) = (name, version, ObjectIdentifier(type))
            encode = { endpoint in
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                guard let call = endpoint as? Call else { throw OutboxRecord.Fault("expected \(Call.self)") }
                return try encoder.encode(call)
            }
            decode = { try JSONDecoder().decode(Call.self, from: $0) }
        }

        /// Creates the kind for entries of an earlier version, which are only read.
        ///
        /// - Parameters:
        ///   - name: The name.
        ///   - version: The earlier version.
        ///   - upgrade: Returns the endpoint for a value that was stored with the earlier version.
        public init<Old: Decodable & Sendable, Call: Endpoint>(
            name: String, version: Int, upgrade: @escaping @Sendable (Old) throws -> Call
        ) {
            (self.name, self.version, type) = (name, version, nil)
            encode = { _ in
                throw OutboxRecord.Fault("a kind for an earlier version can only read entries, not store them")
            }
            decode = { try upgrade(JSONDecoder().decode(Old.self, from: $0)) }
        }
    }
}

/// The kinds of an outbox.
struct KindTable: Sendable {
    private struct Key: Hashable {
        let name: String
        let version: Int
    }

    private let kinds: [Key: Outbox.Kind]

    init(_ kinds: [Outbox.Kind]) throws {
        var table: [Key: Outbox.Kind] = [:]
        for kind in kinds {
            guard !kind.name.isEmpty else {
                throw KindTable.fault("expected a name for each endpoint, found an empty name")
            }
            guard table.updateValue(kind, forKey: Key(name: kind.name, version: kind.version)) == nil else {
                throw KindTable.fault(
                    "expected one endpoint with the name \(kind.name) and version \(kind.version), found two")
            }
        }
        self.kinds = table
    }

    static func fault(_ reason: String, underlying: (any Error)? = nil) -> NetworkError {
        NetworkError(.invalidRequest, reason: "outbox: \(reason.onOneLine)", underlying: underlying)
    }

    /// Encodes an endpoint, and checks that it can be decoded again.
    func encode(_ endpoint: any Endpoint) throws -> OutboxRecord.Call {
        let type = type(of: endpoint as Any)
        let own = kinds.values.filter { $0.type == ObjectIdentifier(type) }
        guard let kind = own.max(by: { $0.version < $1.version }) else {
            throw KindTable.fault("the type \(type) is not one of the outbox's endpoints: add it to `endpoints`")
        }
        do {
            let content = try kind.encode(endpoint)
            _ = try kind.decode(content)
            return OutboxRecord.Call(name: kind.name, version: kind.version, content: content)
        } catch {
            throw KindTable.fault(
                "values of the type \(type) cannot be encoded and decoded again: \(OutboxRecord.words(for: error))",
                underlying: error)
        }
    }

    /// Decodes the endpoint of an entry.
    func decode(_ call: OutboxRecord.Call) throws(OutboxRecord.Fault) -> any Endpoint {
        if let fault = fault(of: call) { throw OutboxRecord.Fault(fault) }
        guard let kind = kinds[Key(name: call.name, version: call.version)] else {
            throw OutboxRecord.Fault("expected a known endpoint")
        }
        do { return try kind.decode(call.content) } catch {
            throw OutboxRecord.Fault(
                "the stored values of the endpoint \(call.name.onOneLine) in version \(call.version) cannot be decoded: "
                    + OutboxRecord.words(for: error))
        }
    }

    /// Returns why an entry's endpoint is not known; nil if it is known.
    func fault(of call: OutboxRecord.Call) -> String? {
        guard kinds[Key(name: call.name, version: call.version)] == nil else { return nil }
        return "the outbox has no endpoint with the name \(call.name.onOneLine) and the version \(call.version)"
    }
}
