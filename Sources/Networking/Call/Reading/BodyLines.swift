import Foundation

/// The lines of a body while it arrives: UTF-8 text without the line endings, which are LF or CRLF. Text after the last
/// line ending is a line, too, if it is not empty.
struct BodyLines: AsyncSequence, Sendable {
    typealias Element = String

    private let body: IncomingBody

    init(_ body: IncomingBody) {
        self.body = body
    }

    /// Returns an iterator over the lines.
    func makeAsyncIterator() -> Iterator { Iterator(bytes: body.makeAsyncIterator()) }

    /// Reads the lines.
    struct Iterator: AsyncIteratorProtocol {
        fileprivate var bytes: IncomingBody.Iterator
        private var splitter = LineSplitter(endings: .lineFeed)
        private var lines: ArraySlice<Data> = []
        private var isAtEnd = false

        fileprivate init(bytes: IncomingBody.Iterator) {
            self.bytes = bytes
        }

        /// Returns the next line, or nil at the end.
        ///
        /// - Throws: The error of the body; ``NetworkError/Kind/responseTooLarge`` for a line of more than 16 MiB.
        mutating func next() async throws -> String? {
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
