import Foundation

/// Whether the input of the process has ended, which asks a worker to complete its calls and to end.
final class InputEnd: @unchecked Sendable {  // because of the lock
    private let lock = NSLock()
    private var isOver = false

    init() {
        Thread.detachNewThread { [self] in
            _ = try? FileHandle.standardInput.readToEnd()
            lock.withLock { isOver = true }
        }
    }

    var hasCome: Bool { lock.withLock { isOver } }
}
