import Foundation

/// The lines of a body, as they come: UTF-8 between LF or CRLF, without these. What follows the last one counts where
/// there is something.
struct BodyLines: AsyncSequence, Sendable {
    typealias Element = String

    private let body: IncomingBody

    init(_ body: IncomingBody) {
        self.body = body
    }

    /// The reader of the lines.
    func makeAsyncIterator() -> Iterator { Iterator(bytes: body.makeAsyncIterator()) }

    /// Pulls the lines.
    struct Iterator: AsyncIteratorProtocol {
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
