import Foundation
import Networking

/// A reader that returns `.notYet` before each piece.
final class HesitantReader: HTTPBody.Reader, @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var pieces: [String]
    private var isReady = false
    private var isHeld: Bool
    private var wake: @Sendable () -> Void = {}

    /// - Parameter isHeld: Whether the first piece becomes available only after ``release()``.
    init(_ pieces: [String], isHeld: Bool = false) {
        (self.pieces, self.isHeld) = (pieces, isHeld)
    }

    func release() {
        lock.withLock { isHeld = false }
        becomeReady()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> HTTPBody.ReadResult {
        lock.withLock {
            guard !pieces.isEmpty else { return .end }
            guard isReady else {
                guard !isHeld else { return .notYet }
                DispatchQueue.global().asyncAfter(deadline: .now() + 0.005) { self.becomeReady() }
                return .notYet
            }
            let piece = pieces[0].utf8.prefix(buffer.count)
            buffer.copyBytes(from: Array(piece))
            pieces[0].removeFirst(pieces[0].utf8.prefix(piece.count).count)
            if pieces[0].isEmpty {
                pieces.removeFirst()
                isReady = false
            }
            return .bytes(piece.count)
        }
    }

    func onReady(_ wake: @escaping @Sendable () -> Void) {
        lock.withLock { self.wake = wake }
    }

    private func becomeReady() {
        let wake = lock.withLock {
            isReady = true
            return self.wake
        }
        wake()
    }
}
