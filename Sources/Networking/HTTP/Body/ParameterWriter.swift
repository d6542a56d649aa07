import Foundation

/// The structure of an encodable value, which ``URLQueryEncoder`` writes as names and values.
indirect enum ParameterNode {
    case null
    case text(String)
    case array([ParameterNode])
    case object([(key: String, node: ParameterNode)])
    /// The value that a nested container writes. It may still change until all parameters have been written.
    case nested(ParameterWriter)

    /// Whether the value is nil.
    var isNull: Bool {
        switch self {
        case .null: true
        case .nested(let writer): writer.node?.isNull ?? true
        case .text, .array, .object: false
        }
    }
}

extension URLQueryEncoder {
    /// Returns the structure of a value.
    func node(of value: some Encodable, at path: [any CodingKey] = []) throws -> ParameterNode {
        if let node = try special(value) { return node }
        let writer = ParameterWriter(strategies: self, codingPath: path)
        try value.encode(to: writer)
        return writer.node ?? .null
    }

    /// Returns the node of a date, data, a URL, a decimal or a UUID. The method `encode(to:)` of these types is not
    /// used. Returns nil for a value of any other type.
    private func special(_ value: some Encodable) throws -> ParameterNode? {
        switch value {
        case let date as Date: try dates.write(date).map { .text($0) }
        case let data as Data: try self.data.write(data).map { .text($0) }
        case let url as URL: .text(url.absoluteString)
        case let decimal as Decimal: .text("\(decimal)")
        case let uuid as UUID: .text(ParameterText(uuid).text)
        default: nil
        }
    }
}

/// The `Encoder` that receives a value. The encoder and its containers share their storage, from which `node` is built.
final class ParameterWriter: Encoder {
    let strategies: URLQueryEncoder
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var content: Content?

    /// The content that has been written so far. The containers may still write into its storage.
    fileprivate enum Content {
        case node(ParameterNode)
        case object(KeyedStorage)
        case array(UnkeyedStorage)
    }

    init(strategies: URLQueryEncoder, codingPath: [any CodingKey]) {
        self.strategies = strategies
        self.codingPath = codingPath
    }

    var node: ParameterNode? {
        switch content {
        case .node(let node): node
        case .object(let storage): .object(storage.members)
        case .array(let storage): .array(storage.elements)
        case nil: nil
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let storage: KeyedStorage
        if case .object(let existing) = content { storage = existing } else { storage = KeyedStorage() }
        content = .object(storage)
        return KeyedEncodingContainer(Keyed(storage: storage, strategies: strategies, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        let storage: UnkeyedStorage
        if case .array(let existing) = content { storage = existing } else { storage = UnkeyedStorage() }
        content = .array(storage)
        return Unkeyed(storage: storage, strategies: strategies, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(writer: self) }

    fileprivate func write(_ node: ParameterNode) { content = .node(node) }
}

/// The members of an object.
private final class KeyedStorage {
    private(set) var members: [(key: String, node: ParameterNode)] = []

    func set(_ node: ParameterNode, for key: String) {
        if let index = members.firstIndex(where: { $0.key == key }) {
            members[index].node = node
        } else {
            members.append((key, node))
        }
    }

    /// Returns the writer of a nested container. Returns the same writer if it is requested again for the same key.
    func writer(for key: String, _ make: () -> ParameterWriter) -> ParameterWriter {
        if case .nested(let writer)? = members.first(where: { $0.key == key })?.node { return writer }
        let writer = make()
        set(.nested(writer), for: key)
        return writer
    }
}

/// The elements of an array.
private final class UnkeyedStorage {
    var elements: [ParameterNode] = []
}

private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let storage: KeyedStorage
    let strategies: URLQueryEncoder
    let codingPath: [any CodingKey]

    private func name(_ key: any CodingKey) -> String { strategies.keys.write(key.stringValue) }

    private func nested(_ key: any CodingKey) -> ParameterWriter {
        storage.writer(for: name(key)) { ParameterWriter(strategies: strategies, codingPath: codingPath + [key]) }
    }

    mutating func encodeNil(forKey key: Key) { storage.set(.null, for: name(key)) }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        storage.set(try strategies.node(of: value, at: codingPath + [key]), for: name(key))
    }

    /// Writes a missing value as nil. When the ``URLQueryEncoder`` writes the query, it decides whether to omit this
    /// value.
    private mutating func write(_ value: (some Encodable)?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    // All overloads are implemented, because the default implementations omit nil values.
    mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try write(value, key) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try write(value, key) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nested(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { nested(PathKey(stringValue: "super")) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { nested(key) }
}

private struct Unkeyed: UnkeyedEncodingContainer {
    let storage: UnkeyedStorage
    let strategies: URLQueryEncoder
    let codingPath: [any CodingKey]

    var count: Int { storage.elements.count }

    private func nested() -> ParameterWriter {
        let writer = ParameterWriter(strategies: strategies, codingPath: codingPath + [PathKey(intValue: count)])
        storage.elements.append(.nested(writer))
        return writer
    }

    mutating func encodeNil() { storage.elements.append(.null) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        storage.elements.append(try strategies.node(of: value, at: codingPath + [PathKey(intValue: count)]))
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { nested() }
}

private struct Single: SingleValueEncodingContainer {
    let writer: ParameterWriter
    var codingPath: [any CodingKey] { writer.codingPath }

    mutating func encodeNil() { writer.write(.null) }
    mutating func encode(_ value: Bool) { writer.write(.text(writer.strategies.booleans.write(value))) }
    mutating func encode(_ value: String) { writer.write(.text(value)) }
    mutating func encode(_ value: Double) throws { try write(value, value.isFinite) }
    mutating func encode(_ value: Float) throws { try write(value, value.isFinite) }
    mutating func encode(_ value: Int) { writer.write(.text(value.description)) }
    mutating func encode(_ value: Int8) { writer.write(.text(value.description)) }
    mutating func encode(_ value: Int16) { writer.write(.text(value.description)) }
    mutating func encode(_ value: Int32) { writer.write(.text(value.description)) }
    mutating func encode(_ value: Int64) { writer.write(.text(value.description)) }
    mutating func encode(_ value: UInt) { writer.write(.text(value.description)) }
    mutating func encode(_ value: UInt8) { writer.write(.text(value.description)) }
    mutating func encode(_ value: UInt16) { writer.write(.text(value.description)) }
    mutating func encode(_ value: UInt32) { writer.write(.text(value.description)) }
    mutating func encode(_ value: UInt64) { writer.write(.text(value.description)) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        writer.write(try writer.strategies.node(of: value, at: codingPath))
    }

    private func write(_ value: some CustomStringConvertible, _ isFinite: Bool) throws {
        guard isFinite else {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: codingPath, debugDescription: "it is not a finite number"))
        }
        writer.write(.text(value.description))
    }
}
