import Foundation

/// Runs work that leads to more work, one after the other in place of one inside the other: a chain of any length needs
/// no deep stack.
enum Trampoline {
    private final class Queue: Sendable {
        private let thread = ObjectIdentifier(Thread.current)
        private let work = Locked<DeliveryQueue<@Sendable () -> Void>?>(DeliveryQueue())

        /// Adds work to be done by this thread; false on another thread, and when everything has been done.
        func add(_ next: @escaping @Sendable () -> Void) -> Bool {
            guard thread == ObjectIdentifier(Thread.current) else { return false }
            return work.withLock { work in
                work?.append(next)
                return work != nil
            }
        }

        /// The next work; nil if there is none, and from then on nothing is added.
        func next() -> (@Sendable () -> Void)? {
            work.withLock { work in
                guard let next = work?.next() else {
                    work = nil
                    return nil
                }
                return next
            }
        }
    }

    /// The work of the current thread. Tasks that are created meanwhile have it, too, but not its thread.
    @TaskLocal private static var current: Queue?

    /// Does some work: now, or when the work of this kind that the thread is doing has returned.
    static func run(_ work: @escaping @Sendable () -> Void) {
        if let current, current.add(work) { return }
        let queue = Queue()
        $current.withValue(queue) {
            work()
            while let next = queue.next() { next() }
        }
    }
}
