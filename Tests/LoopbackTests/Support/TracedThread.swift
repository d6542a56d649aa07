#if os(Linux)
    import Foundation
    import Testing

    /// A thread whose system calls are recorded by strace while it runs tasks. Only this thread is recorded, so that
    /// the tests that run at the same time are neither recorded nor slowed down.
    final class TracedThread: TaskExecutor, @unchecked Sendable {  // because of the condition around every variable
        private let condition = NSCondition()
        private var jobs: [UnownedJob] = []
        private var isOver = false

        /// Runs a closure on the thread, and returns the recorded calls, in their order. Paths stand in the place of
        /// file descriptors.
        static func calls(
            _ names: String, of body: @escaping @Sendable () async throws -> Void
        ) async throws -> [String] {
            let thread = TracedThread()
            let begun = AsyncStream.makeStream(of: String.self)
            Thread.detachNewThread {
                let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
                begun.continuation.yield(own ?? "")
                thread.run()
            }
            defer { thread.end() }
            var ids = begun.stream.makeAsyncIterator()
            let id = try #require(await ids.next()?.split(separator: "/").last.map(String.init))
            let scratch = try Scratch()
            let output = scratch.file("calls")
            let strace = try Tool.strace.start(
                ["-y", "-s", "0", "-e", "trace=\(names)", "-o", output.path, "-p", id], in: scratch.url)
            try await waitForTracer(of: id)
            try await Task(executorPreference: thread) { try await body() }.value
            thread.end()
            strace.process.waitUntilExit()  // strace ends with the thread
            let text = try String(contentsOf: output, encoding: .utf8)
            return text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("+++") }
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            condition.withLock {
                jobs.append(job)
                condition.signal()
            }
        }

        private func run() {
            while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }

        private func next() -> UnownedJob? {
            condition.withLock {
                while jobs.isEmpty, !isOver { condition.wait() }
                return jobs.isEmpty ? nil : jobs.removeFirst()
            }
        }

        private func end() {
            condition.withLock {
                isOver = true
                condition.signal()
            }
        }

        private static func waitForTracer(of id: String) async throws {
            let end = ContinuousClock.now + .seconds(20)
            while ContinuousClock.now < end {
                let status = try String(contentsOfFile: "/proc/self/task/\(id)/status", encoding: .utf8)
                let line = status.split(separator: "\n").first { $0.hasPrefix("TracerPid:") }
                if let line, !line.hasSuffix("\t0") { return }
                try await Task.sleep(for: .milliseconds(2))
            }
            Issue.record("strace does not record the thread")
        }
    }
#endif
