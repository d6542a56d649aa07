public import Foundation

/// The body of a response that is pulled, chunk by chunk, by one reader.
///
/// Not pulling holds the server back (on URLSession: fails past a bound). Breaking out of the loop, or dropping the
/// body, ends the transfer. Cancelling the reading task ends the wait with ``NetworkError/Kind/cancelled``.
///
/// ```swift
/// for try await chunk in body { try file.write(contentsOf: chunk) }
/// ```
public struct IncomingBody: AsyncSequence, Sendable {

    fileprivate final class Source: Sendable {
        let pull: @Sendable () async throws -> Data?
        let abandon: @Sendable () -> Void

        init(pull: @escaping @Sendable () async throws -> Data?, abandon: @escaping @Sendable () -> Void) {
            self.pull = pull
            self.abandon = abandon
        }

        deinit {
            abandon()
        }
    }

    /// Makes another error of the one that a body ends with.
    typealias ErrorMap = @Sendable (any Error) async -> any Error

    private let source: Source
    private var map: ErrorMap?

    /// Makes a body of its two actions.
    ///
    /// - Parameters:
    ///   - pull: Waits for the next chunk; nil at the end. Called by one reader at a time.
    ///   - abandon: Is called once nobody holds the body any more, also after its end.
    public init(pull: @escaping @Sendable () async throws -> Data?, abandon: @escaping @Sendable () -> Void = {}) {
        source = Source(pull: pull, abandon: abandon)
    }

    /// A body that is there already.
    init(_ data: Data) {
        let left = Locked<Data?>(data.isEmpty ? nil : data)
        self.init(pull: {
            left.withLock { left in
                defer { left = nil }
                return left
            }
        })
    }

    init(_ pipe: BytePipe, of request: HTTPRequest) {
        self.init(
            pull: {
                do { return try await pipe.next() } catch {
                    throw NetworkError.wrapping(error).completed(request: request, response: nil)
                }
            },
            abandon: { pipe.abandon() })
    }

    /// The same body, which tells of each chunk when it is taken.
    func onEach(_ action: @escaping @Sendable (Data) -> Void) -> IncomingBody {
        pulled { pull in
            let chunk = try await pull()
            if let chunk { action(chunk) }
            return chunk
        }
    }

    /// The same body, whose chunks are waited for inside of an action.
    func pulled(
        by action: @escaping @Sendable (_ pull: () async throws -> Data?) async throws -> Data?
    ) -> IncomingBody {
        var body = IncomingBody(pull: { [source] in try await action(source.pull) })
        body.map = map
        return body
    }

    /// The same body, whose error is made another one before its reader gets it.
    func mappingErrors(_ map: @escaping ErrorMap) -> IncomingBody {
        var body = self
        body.map = map
        return body
    }

    /// The same body with its errors as they are.
    var unmapped: IncomingBody {
        var body = self
        body.map = nil
        return body
    }

    /// What its reader would get for an error.
    func mapped(_ error: any Error) async -> any Error { await map?(error) ?? error }

    /// The reader of the body. A second one takes chunks away from the first.
    public func makeAsyncIterator() -> Iterator {
        Iterator(body: self)
    }

    /// Pulls the chunks.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let body: IncomingBody

        /// The next chunk, or nil at the end.
        ///
        /// - Throws: A ``NetworkError``; if the call has returned by then, what the service maps it to.
        public mutating func next() async throws -> Data? {
            do { return try await body.source.pull() } catch { throw await body.mapped(error) }
        }
    }

    /// As much of the body as fits, and as comes before it fails.
    func beginning(upTo limit: Int) async -> Data {
        var collected = Data()
        var iterator = makeAsyncIterator()
        while collected.count < limit, let chunk = try? await iterator.next() {
            collected += chunk.prefix(limit - collected.count)
        }
        return collected
    }

    /// The whole body in memory.
    ///
    /// - Parameter limit: The most bytes to take; one more throws ``NetworkError/Kind/responseTooLarge``.
    public func collect(upTo limit: Int) async throws -> Data {
        var collected = Data()
        for try await chunk in self {
            guard chunk.count <= limit - collected.count else { throw NetworkError.responseTooLarge(limit: limit) }
            collected.append(chunk)
        }
        return collected
    }
}
