import Foundation

/// Cuts bytes into lines, however they come.
struct LineSplitter: Sendable {
    /// What ends a line.
    enum Endings: Sendable {
        /// LF and CRLF.
        case lineFeed
        /// LF, CRLF and CR.
        case any
    }

    /// More than anybody's line, and less than what would hurt.
    static let longestLine = 16 << 20

    private let endings: Endings
    private var line = Data()
    /// The last line ended with a CR: a LF that comes next belongs to it.
    private var endedWithReturn = false

    init(endings: Endings) {
        self.endings = endings
    }

    /// What has come after the last line's end; nil if there is nothing.
    var rest: Data? { line.isEmpty ? nil : trimmed(line) }

    /// The lines that are complete now.
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
