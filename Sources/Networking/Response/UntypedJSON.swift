/// Any JSON value, read without a type of its own.
struct UntypedJSON: Decodable {
    let value: (any Sendable)?

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Key.self) {
            value = try container.allKeys.reduce(into: [String: any Sendable]()) { object, key in
                object[key.stringValue] = try container.decode(UntypedJSON.self, forKey: key).value
            }
        } else if var container = try? decoder.unkeyedContainer() {
            var array: [any Sendable] = []
            while !container.isAtEnd {
                if let element = try container.decode(UntypedJSON.self).value { array.append(element) }
            }
            value = array
        } else {
            value = try UntypedJSON.scalar(in: try decoder.singleValueContainer())
        }
    }

    private static func scalar(in container: any SingleValueDecodingContainer) throws -> (any Sendable)? {
        if container.decodeNil() { return nil }
        if let bool = try? container.decode(Bool.self) { return bool }
        if let int = try? container.decode(Int.self) { return int }
        if let double = try? container.decode(Double.self) { return double }
        return try container.decode(String.self)
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            nil
        }
    }
}
