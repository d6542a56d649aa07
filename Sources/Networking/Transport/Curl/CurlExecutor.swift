#if os(Linux)
    import CLibcurl
    import Foundation

    /// Runs the jobs of tasks on the threads of a transport: see ``CurlTransport/executor``.
    final class CurlExecutor: TaskExecutor {
        private let loops: [CurlLoop]
        private let loads: CurlLoads

        init(_ loops: [CurlLoop], _ loads: CurlLoads) {
            (self.loops, self.loads) = (loops, loads)
        }

        /// Runs a job on the current thread if it belongs to the transport, so that a task stays on the thread that has
        /// received its response. Otherwise, the job runs on the thread that would get the next exchange.
        func enqueue(_ job: consuming ExecutorJob) {
            let job = CurlJob(job: UnownedJob(job), executor: self)
            loops[loads.currentIndex ?? loads.next()].run(job)
        }
    }

    /// A job of a task or an actor, with the executor that it prefers.
    struct CurlJob: Sendable {
        let job: UnownedJob
        /// The executor, retained because the runtime does not retain it for the jobs of actors.
        let executor: CurlExecutor

        /// Runs the job on the current thread.
        func run() { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }

        /// Runs the job on the default executor, because the transport has been shut down.
        func leave() { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }

    /// The jobs that a loop has taken from its inbox and has not run yet.
    struct CurlJobs {
        var waiting: [CurlJob] = []

        /// Runs jobs until the time of a call of libcurl is over, so that sockets do not wait for longer. Runs at least
        /// one job.
        ///
        /// - Returns: How long the jobs ran, in nanoseconds.
        mutating func run(_ pace: CurlPace, noting inbox: CurlInbox) -> UInt64 {
            let begin = CurlLoop.time()
            inbox.noteJobs(from: begin)
            pace.begin()
            var count = 0
            // The time begins with the first check, which is before the first job.
            while count < waiting.count, !pace.isOver() || count == 0 {
                waiting[count].run()
                count += 1
            }
            if count == waiting.count { waiting.removeAll(keepingCapacity: true) } else { waiting.removeFirst(count) }
            return inbox.noteJobsEnd(from: begin)
        }
    }
#endif
