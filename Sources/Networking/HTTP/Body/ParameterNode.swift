import Foundation

/// The structure of an encodable value, which ``URLQueryEncoder`` writes as names and values.
indirect enum ParameterNode {
    case null
    case text(String)
    case array([ParameterNode])
    case object([(key: String, node: ParameterNode)])
}

/// Converts an encodable value to a ``ParameterNode``.
struct ParameterNodeEncoder {
    /// The encoder whose strategies define how single values become strings.
    let strategies: URLQueryEncoder

    func encode(_ value: some Encodable, at path: [any CodingKey] = []) throws -> ParameterNode {
        if let node = try special(value, path) { return node }
        let writer = ParameterWriter(strategies: strategies, codingPath: path)
        try value.encode(to: writer)
        return writer.node ?? .null
    }

    /// Returns the node of a date, data, a URL or a decimal, whose own `encode(to:)` is not used. Returns nil for a
    /// value of any other type.
    private func special(_ value: some Encodable, _ path: [any CodingKey]) throws -> ParameterNode? {
        switch value {
        case let date as Date: try strategies.dates.write(date).map { .text($0) }
        case let data as Data: try strategies.data.write(data).map { .text($0) }
        case let url as URL: .text(url.absoluteString)
        case let decimal as Decimal: .text("\(decimal)")
        default: nil
        }
    }
}
