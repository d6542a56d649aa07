import Foundation

/// Runs work that starts more work. The pieces of work run one after another instead of nested, so that a long chain
/// needs no deep stack.
enum Trampoline {
    private final class Queue: Sendable {
        private let thread = ObjectIdentifier(Thread.current)
        private let work = Locked<DeliveryQueue<@Sendable () -> Void>?>(DeliveryQueue())

        /// Adds work to the queue. Returns false, and adds nothing, on another thread or after all work has been done.
        func add(_ next: @escaping @Sendable () -> Void) -> Bool {
            guard thread == ObjectIdentifier(Thread.current) else { return false }
            return work.withLock { work in
                work?.append(next)
                return work != nil
            }
        }

        /// Returns the next piece of work. Returns nil if there is none; from then on, no work can be added.
        func next() -> (@Sendable () -> Void)? {
            work.withLock { work in
                let next = work?.next()
                if next == nil { work = nil }
                return next
            }
        }
    }

    /// The queue of the current thread. Tasks that the work creates inherit this value, but they may run on another
    /// thread.
    @TaskLocal private static var current: Queue?

    /// Runs the work now. If this thread is already running work of a trampoline, runs it after that work has returned.
    static func run(_ work: @escaping @Sendable () -> Void) {
        if let current, current.add(work) { return }
        let queue = Queue()
        $current.withValue(queue) {
            work()
            while let next = queue.next() { next() }
        }
    }
}
