import Foundation

/// Reads the lines of a body while it arrives: UTF-8 text without the line endings, which are LF or CRLF. Text after
/// the last line ending is a line, too, if it is not empty.
struct BodyLines: AsyncIteratorProtocol {
    private var bytes: IncomingBody.Iterator
    private var splitter = LineSplitter(endings: .lineFeed)
    private var lines: ArraySlice<Data> = []
    private var isAtEnd = false
    private var number = 0

    init(_ body: IncomingBody) { bytes = body.makeAsyncIterator() }

    /// Returns the next line, or nil at the end.
    ///
    /// - Throws: The error of the body; ``NetworkError/Kind/responseTooLarge`` for a line of more than 16 MiB;
    ///   ``NetworkError/Kind/undecodableBody`` for a line with more than 256 combining marks in a row.
    mutating func next() async throws -> String? {
        while lines.isEmpty, !isAtEnd {
            if let chunk = try await bytes.next() {
                lines = try splitter.split(chunk)[...]
            } else {
                isAtEnd = true
                if let rest = splitter.rest { lines = [rest] }
            }
        }
        guard let line = lines.popFirst().map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
        number += 1
        guard CombiningMarks.areFew(in: line) else {
            throw NetworkError(.undecodableBody, reason: "line \(number) has \(JSONScanner.Limit.marks.description)")
        }
        return line
    }
}

/// The elements of a response body, read as the body arrives: lines, JSON values, server-sent events.
///
/// To close the connection, leave the loop and release the sequence. The loop throws the errors of the connection, and
/// an error for an element that cannot be read.
///
/// ```swift
/// for try await line in try await service.request(.get("log"), as: .lines) { print(line) }
/// ```
public struct BodySequence<Element: Sendable>: AsyncSequence, Sendable {
    private let makeIterator: @Sendable () -> Iterator

    init(_ makeIterator: @escaping @Sendable () -> Iterator) { self.makeIterator = makeIterator }

    /// Creates an iterator. The body of one response can be read once.
    public func makeAsyncIterator() -> Iterator { makeIterator() }

    /// Reads the elements.
    public struct Iterator: AsyncIteratorProtocol {
        private let read: () async throws -> Element?

        init<Reader: AsyncIteratorProtocol>(_ reader: Reader) where Reader.Element == Element {
            var reader = reader
            read = { try await reader.next() }
        }

        /// Returns the next element when it has arrived, or nil at the end.
        public mutating func next() async throws -> Element? { try await read() }
    }
}

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
