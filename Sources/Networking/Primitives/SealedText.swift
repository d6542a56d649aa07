package import Foundation

/// The layout of a small file with a checksum that detects damage. The first line contains a title, the number of the
/// format, and the checksum of the content. The content follows.
package struct SealedText: Sendable {
    /// The reason why a file does not have this layout.
    package struct Fault: Error, CustomStringConvertible {
        package let description: String
        package init(_ description: String) { self.description = description }
    }

    private let title: String
    private let format: Int
    private let words: String

    /// - Parameters:
    ///   - format: The number of the format. Increase it if an earlier version of the library cannot read the content.
    ///   - words: A description of the file for error messages: `an entry of an outbox`.
    package init(_ title: String, format: Int, words: String) {
        (self.title, self.format, self.words) = (title, format, words)
    }

    /// Returns the bytes of a file with this content.
    package func sealed(_ content: Data) -> Data {
        var checksum = Checksum()
        content.withUnsafeBytes { checksum.update($0) }
        return Data("\(title) \(format) \(checksum.value.hexadecimal)\n".utf8) + content
    }

    /// Returns the content of a file.
    package func content(of bytes: Data) throws(Fault) -> Data {
        let head = bytes.prefix(64).prefix { $0 != UInt8(ascii: "\n") }
        let members = String(decoding: head, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard members.count == 3, members[0] == title, let found = Int(members[1]) else {
            throw Fault("expected \(words), found \(bytes.count) bytes of another format")
        }
        guard found == format else {
            throw Fault(
                "expected the format \(format), found the format \(found): another version of the library has written the file"
            )
        }
        let content = bytes.dropFirst(head.count + 1)
        var checksum = Checksum()
        content.withUnsafeBytes { checksum.update($0) }
        guard members[2] == checksum.value.hexadecimal else {
            throw Fault(
                "expected the checksum \(checksum.value.hexadecimal), found a different checksum: the file is damaged")
        }
        return content
    }
}
