import Foundation

/// A value that a test and its server's handlers share.
final class Box<Value: Sendable>: @unchecked Sendable {  // because of the lock around its variable
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) {
        stored = value
    }

    var value: Value { lock.withLock { stored } }

    @discardableResult
    func change<Result>(_ change: (inout Value) -> Result) -> Result {
        lock.withLock { change(&stored) }
    }
}
