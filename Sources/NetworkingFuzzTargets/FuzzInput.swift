import Foundation
import Networking

/// The input of a target: one or more parts, separated by the byte 0x1E (RECORD SEPARATOR).
struct FuzzInput: Sendable {
    static let separator: UInt8 = 0x1E

    /// The whole input.
    let bytes: [UInt8]
    /// The parts, at least one.
    let parts: [[UInt8]]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        parts = bytes.split(separator: FuzzInput.separator, omittingEmptySubsequences: false).map(Array.init)
    }

    /// The whole input as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Returns a part as text. Returns an empty text if the input has no such part. Bytes that are not UTF-8 become
    /// U+FFFD.
    func text(_ index: Int) -> String { String(decoding: self[index], as: UTF8.self) }

    /// The whole input, decoded as the value of a field.
    var field: String { String(fieldValue: bytes) }

    /// Returns a part, decoded as the value of a field.
    func field(_ index: Int) -> String { String(fieldValue: self[index]) }

    /// Returns a part. Returns an empty array if the input has no such part.
    subscript(index: Int) -> [UInt8] { parts.indices.contains(index) ? parts[index] : [] }
}
