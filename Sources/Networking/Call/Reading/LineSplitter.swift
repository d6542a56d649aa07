import Foundation

/// Splits chunks of bytes into lines. A line may extend over several chunks.
package struct LineSplitter: Sendable {
    /// The line endings.
    enum Endings: Sendable {
        /// LF and CRLF.
        case lineFeed
        /// LF, CRLF and CR.
        case any
    }

    /// The maximum length of a line in bytes: longer than any usual line, and small enough for memory.
    package static let longestLine = 16 << 20

    private let endings: Endings
    private var line = Data()
    /// Whether the last byte was a CR that ended a line. An LF that follows belongs to the same line ending.
    private var endedWithReturn = false

    init(endings: Endings) {
        self.endings = endings
    }

    /// The bytes after the last line ending; nil if there are none.
    var rest: Data? { line.isEmpty ? nil : trimmed(line) }

    /// Returns the lines that a chunk completes.
    mutating func split(_ chunk: Data) throws -> [Data] {
        var lines: [Data] = []
        chunk.withUnsafeBytes { bytes in
            var start = 0
            for (index, byte) in bytes.enumerated() {
                defer { endedWithReturn = endings == .any && byte == UInt8(ascii: "\r") }
                if endedWithReturn, byte == UInt8(ascii: "\n") {
                    start = index + 1
                } else if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") && endings == .any {
                    line.append(contentsOf: bytes[start..<index])
                    lines.append(trimmed(line))
                    line = Data()
                    start = index + 1
                }
            }
            line.append(contentsOf: bytes[start...])
        }
        guard line.count <= LineSplitter.longestLine else {
            throw NetworkError.responseTooLarge(limit: LineSplitter.longestLine)
        }
        return lines
    }

    private func trimmed(_ line: Data) -> Data {
        endings == .lineFeed && line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
}
