import Foundation

extension HTTPBody {
    /// Returns a body that consists of other bodies, one after another.
    static func concatenated(_ bodies: [HTTPBody]) -> HTTPBody {
        let lengths = bodies.map(\.length)
        let length = lengths.contains(nil) ? nil : lengths.reduce(0) { $0 + ($1 ?? 0) }
        return .source(
            length: length, isReplayable: bodies.allSatisfy(\.isReplayable), pieces: bodies.flatMap(\.pieces)
        ) {
            ConcatenatedBodyReader(bodies)
        }
    }
}

/// Reads bodies one after another. Opens each body when the previous body has ended. Throws an error if the number of
/// bytes of a body differs from its `length`.
final class ConcatenatedBodyReader: HTTPBody.Reader, @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var bodies: ArraySlice<HTTPBody>
    private var current: (reader: any HTTPBody.Reader, left: Int?)?
    private var wake: @Sendable () -> Void = {}

    init(_ bodies: [HTTPBody]) {
        self.bodies = bodies[...]
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> HTTPBody.ReadResult {
        while let (reader, left) = try opened() {
            let result = try reader.readNext(into: buffer)
            switch result {
            case .notYet:
                return .notYet
            case .bytes(let count):
                guard let left else { return result }
                guard count <= left else { throw ConcatenatedBodyReader.wrongLength("more") }
                lock.withLock { current?.left = left - count }
                return result
            case .end:
                guard left ?? 0 == 0 else { throw ConcatenatedBodyReader.wrongLength("fewer") }
                reader.close()
                lock.withLock { current = nil }
            }
        }
        return .end
    }

    func onReady(_ wake: @escaping @Sendable () -> Void) {
        let reader = lock.withLock {
            self.wake = wake
            return current?.reader
        }
        reader?.onReady(wake)
    }

    func close() {
        lock.withLock { current }?.reader.close()
    }

    /// Returns the reader of the current body. If no body is open, opens the next body. Returns nil at the end.
    private func opened() throws -> (reader: any HTTPBody.Reader, left: Int?)? {
        if let current = lock.withLock({ current }) { return current }
        let (next, wake) = lock.withLock { (bodies.popFirst(), self.wake) }
        guard let next else { return nil }
        let reader = try next.open()
        reader.onReady(wake)
        lock.withLock { current = (reader, next.length) }
        return (reader, next.length)
    }

    private static func wrongLength(_ words: String) -> NetworkError {
        NetworkError(
            .bodyUnreadable, reason: "the request's body: one of its parts has \(words) bytes than expected")
    }
}
