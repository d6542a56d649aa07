import Foundation

/// The text of a single value in a path, a query or a form. It is the same in all of them.
struct ParameterText {
    let text: String

    init(_ value: some LosslessStringConvertible) { text = value.description }

    /// Creates the text of a UUID, in lower case as in RFC 9562.
    init(_ value: UUID) { text = value.uuidString.lowercased() }

    /// Creates the text of a string, a number, a Boolean or a UUID, or of an enumeration case whose raw value has one
    /// of these types. Returns nil for any other value.
    ///
    /// - Throws: `EncodingError` if the value is a number that is not finite.
    init?(_ value: Any) throws {
        // Most values are strings and integers, whose types need no search for a conformance.
        if let value = value as? String {
            self.init(value)
        } else if let value = value as? Int {
            self.init(value)
        } else if let value = value as? UUID {
            self.init(value)
        } else if let value = value as? any FloatingPoint, !value.isFinite {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: [], debugDescription: "it is not a finite number"))
        } else if let value = value as? any LosslessStringConvertible {
            self.init(value)
        } else if let value = value as? any RawRepresentable {
            try self.init(value.rawValue as Any)
        } else {
            return nil
        }
    }
}
