import Foundation

/// The JSON values of a body with one value per line. The values are decoded as the body arrives.
struct JSONLines<Element: Decodable & Sendable>: AsyncSequence, Sendable {
    private let lines: BodyLines
    private let decoder: JSONDecoder

    init(_ lines: BodyLines, decoder: JSONDecoder) {
        self.lines = lines
        self.decoder = decoder
    }

    /// Returns an iterator over the values.
    func makeAsyncIterator() -> Iterator { Iterator(lines: lines.makeAsyncIterator(), decoder: decoder) }

    /// Reads the values.
    struct Iterator: AsyncIteratorProtocol {
        fileprivate var lines: BodyLines.Iterator
        fileprivate let decoder: JSONDecoder
        private var number = 0

        fileprivate init(lines: BodyLines.Iterator, decoder: JSONDecoder) {
            self.lines = lines
            self.decoder = decoder
        }

        /// Returns the next value, or nil at the end.
        ///
        /// - Throws: The error of the body; ``NetworkError/Kind/undecodableBody`` if a line cannot be decoded. The
        ///   reason contains the number of the line.
        mutating func next() async throws -> Element? {
            while let line = try await lines.next() {
                number += 1
                guard !line.utf8.allSatisfy({ HTTPGrammar.isBlank($0) }) else { continue }
                do { return try decoder.decode(Element.self, from: Data(line.utf8)) } catch {
                    throw NetworkError(
                        .undecodableBody,
                        reason: "line \(number): \(UndecodableBody.describe(error, reading: Element.self))",
                        underlying: error)
                }
            }
            return nil
        }
    }
}
