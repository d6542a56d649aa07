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

    init<Base: AsyncSequence & Sendable>(_ base: Base) where Base.Element == Element {
        makeIterator = {
            var iterator = base.makeAsyncIterator()
            return Iterator { try await iterator.next() }
        }
    }

    /// Creates an iterator. The body of one response can be read once.
    public func makeAsyncIterator() -> Iterator { makeIterator() }

    /// Reads the elements.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let read: () async throws -> Element?

        /// Returns the next element when it has arrived, or nil at the end.
        public mutating func next() async throws -> Element? { try await read() }
    }
}
