public import Foundation

/// The body of a response, which one reader pulls chunk by chunk.
///
/// If the reader does not pull, the server has to wait. Exception: ``URLSessionTransport`` on Linux cannot slow the
/// server down, so the transfer fails if the bytes that were not pulled exceed a limit. To end the transfer early,
/// leave the loop and release the body. If the reading task is cancelled, its wait ends with
/// ``NetworkError/Kind/cancelled``.
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

    /// Maps the error that ends a body to another error.
    typealias ErrorMap = @Sendable (any Error) async -> any Error

    private let source: Source
    private var map: ErrorMap?

    /// Creates a body from two closures.
    ///
    /// - Parameters:
    ///   - pull: Waits for the next chunk; returns nil at the end. One reader calls it at a time.
    ///   - abandon: Runs once when the body is released, even if the body has already ended.
    public init(pull: @escaping @Sendable () async throws -> Data?, abandon: @escaping @Sendable () -> Void = {}) {
        source = Source(pull: pull, abandon: abandon)
    }

    /// Creates a body whose bytes are already in memory.
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
                do {
                    // A reader does not wait if all bytes have already arrived. Therefore, it lets other tasks run
                    // here, and checks whether it is cancelled.
                    await Task.yield()
                    try CallScope.checkReader()
                    return try await pipe.next()
                } catch {
                    throw NetworkError.wrapping(error).completed(request: request, response: nil)
                }
            },
            abandon: { pipe.abandon() })
    }

    /// Returns the same body. Its chunks are pulled inside `action`, and `end` is called when the body is released.
    func pulled(
        by action: @escaping @Sendable (_ pull: () async throws -> Data?) async throws -> Data?,
        whenReleased end: @escaping @Sendable () -> Void = {}
    ) -> IncomingBody {
        var body = IncomingBody(pull: { [source] in try await action(source.pull) }, abandon: end)
        body.map = map
        return body
    }

    /// Returns the same body, whose errors are mapped before its reader receives them.
    func mappingErrors(_ map: @escaping ErrorMap) -> IncomingBody {
        var body = self
        body.map = map
        return body
    }

    /// The same body, whose errors are not mapped.
    var unmapped: IncomingBody {
        var body = self
        body.map = nil
        return body
    }

    /// Returns the error that the body's reader receives in place of `error`.
    func mapped(_ error: any Error) async -> any Error { await map?(error) ?? error }

    /// Returns the reader of the body. Use one reader only, because two readers would each receive a part of the
    /// chunks.
    public func makeAsyncIterator() -> Iterator {
        Iterator(body: self)
    }

    /// The reader that pulls the chunks.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let body: IncomingBody

        /// Waits for the next chunk. Returns nil at the end.
        ///
        /// - Throws: A ``NetworkError``. If the call has already returned, the method throws the error to which the
        ///   service maps the ``NetworkError``.
        public mutating func next() async throws -> Data? {
            do { return try await body.source.pull() } catch { throw await body.mapped(error) }
        }
    }

    /// Reads the whole body into memory.
    ///
    /// - Parameter limit: The maximum number of bytes. If the body is longer, the method throws
    ///   ``NetworkError/Kind/responseTooLarge``.
    public func collect(upTo limit: Int) async throws -> Data {
        var collected = Data()
        for try await chunk in self {
            guard chunk.count <= limit - collected.count else { throw NetworkError.responseTooLarge(limit: limit) }
            collected.append(chunk)
        }
        return collected
    }
}

extension HTTPResponse.Content {
    /// The body as a stream. A body in memory or in a file is read as a stream, too.
    var stream: IncomingBody {
        get throws {
            switch self {
            case .stream(let body): return body
            case .data(let data): return IncomingBody(data)
            case .file(let url): return IncomingBody(try Data(contentsOf: url, options: .mappedIfSafe))
            }
        }
    }
}
