import Foundation

/// The lines of a body, as they come: UTF-8 between LF or CRLF, without these. What follows the last one counts where there is something.
public struct BodyLines: AsyncSequence, Sendable {
    /// A line.
    public typealias Element = String

    private let body: IncomingBody

    init(_ body: IncomingBody) {
        self.body = body
    }

    /// The reader of the lines.
    public func makeAsyncIterator() -> Iterator { Iterator(bytes: body.makeAsyncIterator()) }

    /// Pulls the lines.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var bytes: IncomingBody.Iterator
        private var splitter = LineSplitter(endings: .lineFeed)
        private var lines: ArraySlice<Data> = []
        private var isAtEnd = false

        fileprivate init(bytes: IncomingBody.Iterator) {
            self.bytes = bytes
        }

        /// The next line, or nil at the end.
        ///
        /// - Throws: The body's error, and ``NetworkError/Kind/responseTooLarge`` for a line of more than 16 MiB.
        public mutating func next() async throws -> String? {
            while lines.isEmpty, !isAtEnd {
                if let chunk = try await bytes.next() {
                    lines = try splitter.split(chunk)[...]
                } else {
                    isAtEnd = true
                    if let rest = splitter.rest { lines = [rest] }
                }
            }
            return lines.popFirst().map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

/// The JSON values of a body, one a line, as they come.
public struct JSONLines<Element: Decodable & Sendable>: AsyncSequence, Sendable {
    private let lines: BodyLines
    private let decoder: JSONDecoder

    init(_ lines: BodyLines, decoder: JSONDecoder) {
        self.lines = lines
        self.decoder = decoder
    }

    /// The reader of the values.
    public func makeAsyncIterator() -> Iterator { Iterator(lines: lines.makeAsyncIterator(), decoder: decoder) }

    /// Pulls the values.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var lines: BodyLines.Iterator
        fileprivate let decoder: JSONDecoder
        private var number = 0

        fileprivate init(lines: BodyLines.Iterator, decoder: JSONDecoder) {
            self.lines = lines
            self.decoder = decoder
        }

        /// The next value, or nil at the end.
        ///
        /// - Throws: The body's error, and ``NetworkError/Kind/undecodableBody`` that names the line.
        public mutating func next() async throws -> Element? {
            while let line = try await lines.next() {
                number += 1
                guard !line.utf8.allSatisfy({ HTTPGrammar.isBlank($0) }) else { continue }
                do { return try decoder.decode(Element.self, from: Data(line.utf8)) } catch {
                    throw NetworkError(
                        .undecodableBody,
                        reason: "line \(number): \(UndecodableBody.words(error, reading: Element.self))",
                        underlying: error)
                }
            }
            return nil
        }
    }
}

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

    /// What has come after the last line's end; nil where there is nothing.
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
