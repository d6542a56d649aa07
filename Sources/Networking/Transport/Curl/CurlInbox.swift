#if os(Linux)
    import Foundation

    /// A queue of commands and jobs for a loop. Callers on any thread add to it.
    final class CurlInbox: Sendable {
        private struct State: Sendable {
            var commands: [CurlLoop.Command] = []
            var jobs: [CurlJob] = []
            var isAsleep = false
            var isClosed = false
            /// The time at which the loop began to run jobs; nil if it runs none, or if the time is reported.
            var jobsBegin: UInt64?
            /// The earliest time of the next report.
            var nextReport: UInt64 = 0
        }

        private let state = Locked(State())
        private let log: @Sendable (String) -> Void

        /// - Parameter log: Reports to the operator that a job blocks the loop.
        init(log: @escaping @Sendable (String) -> Void) {
            self.log = log
        }

        /// Adds a command.
        ///
        /// - Returns: Whether the loop must be woken; nil if the command is refused.
        func add(_ command: CurlLoop.Command) -> Bool? {
            add { $0.commands.append(command) }
        }

        /// Adds a job. Returns as ``add(_:)-(CurlLoop.Command)``.
        func add(_ job: CurlJob) -> Bool? {
            add { $0.jobs.append(job) }
        }

        private func add(_ append: (inout State) -> Void) -> Bool? {
            let (wasAsleep, jobsBegin): (Bool?, UInt64?) = state.withLock { state in
                guard !state.isClosed else { return (nil, nil) }
                append(&state)
                defer { state.isAsleep = false }
                return (state.isAsleep, state.jobsBegin)
            }
            if let jobsBegin { reportBlock(since: jobsBegin) }
            return wasAsleep
        }

        /// Takes all commands, and stores the given empty array for the next commands. Also takes all jobs, and appends
        /// them to the given ones. The loop then counts as awake.
        ///
        /// - Returns: Whether the inbox has been closed.
        func take(_ commands: inout [CurlLoop.Command], _ jobs: inout [CurlJob]) -> Bool {
            state.withLock { state in
                state.isAsleep = false
                swap(&state.commands, &commands)
                if jobs.isEmpty {
                    swap(&state.jobs, &jobs)
                } else {
                    jobs += state.jobs
                    state.jobs.removeAll(keepingCapacity: true)
                }
                return state.isClosed
            }
        }

        /// Records that the loop is about to wait.
        ///
        /// - Returns: Whether the loop may wait, because there is no command and no job.
        func fallAsleep() -> Bool {
            state.withLock { state in
                state.isAsleep = state.commands.isEmpty && state.jobs.isEmpty && !state.isClosed
                return state.isAsleep
            }
        }

        /// Records that the loop begins to run jobs.
        func noteJobs(from begin: UInt64) {
            state.withLock { $0.jobsBegin = begin }
        }

        /// Records that the loop has run jobs.
        ///
        /// - Returns: How long the jobs ran, in nanoseconds.
        func noteJobsEnd(from begin: UInt64) -> UInt64 {
            reportBlock(since: begin, isOver: true)
        }

        /// The time, in nanoseconds, after which ``log`` reports jobs: 100 ms for one job, and the time after which the
        /// loop runs no further job.
        static let longestJobs = 100_000_000 + CurlPace.standard
        /// A second report follows after a minute at the earliest.
        private static let silence: UInt64 = 60_000_000_000

        /// Reports once that jobs have taken too long. While they run, this is called whenever something is added.
        @discardableResult
        private func reportBlock(since begin: UInt64, isOver: Bool = false) -> UInt64 {
            let now = CurlLoop.time()
            let time = now &- begin
            guard isOver || time > CurlInbox.longestJobs else { return time }
            let isReported = state.withLock { state in
                guard state.jobsBegin == begin else { return false }
                state.jobsBegin = nil
                guard time > CurlInbox.longestJobs, now >= state.nextReport else { return false }
                state.nextReport = now &+ CurlInbox.silence
                return true
            }
            if isReported {
                log(
                    "a job blocks the engine: it has used a thread of CurlTransport for \(time / 1_000_000) ms, while "
                        + "the connections of that thread wait. Move blocking work out of tasks that prefer "
                        + "CurlTransport.executor.")
            }
            return time
        }

        /// Refuses further commands.
        func close() {
            state.withLock { $0.isClosed = true }
        }
    }

    /// The thread of one loop.
    struct CurlThread: @unchecked Sendable {  // because a thread's identifier never changes
        private let identifier: pthread_t

        /// Starts the thread, which retains the loop while it runs.
        ///
        /// - Throws: ``NetworkError`` if the system cannot create a thread.
        init(_ loop: CurlLoop) throws {
            var identifier = pthread_t()
            let kept = Unmanaged.passRetained(loop)
            let result = pthread_create(&identifier, nil, CurlThread.body, kept.toOpaque())
            guard result == 0 else {
                kept.release()
                throw NetworkError(
                    .unknown,
                    reason:
                        "the engine cannot be started, because the system cannot create a thread: \(String(cString: strerror(result)))"
                )
            }
            self.identifier = identifier
        }

        /// Waits until the thread has ended. Does not wait if it is called on the thread of a loop: two loops that wait
        /// for each other would never end.
        func join() {
            if CurlLoop.current == nil { pthread_join(identifier, nil) } else { leave() }
        }

        /// Lets the thread end by itself.
        func leave() {
            pthread_detach(identifier)
        }

        private static let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { kept in
            Thread.current.name = "networking.curl"
            // Blocks SIGPIPE, so that a write to a connection that the peer has closed returns an error and never sends
            // a signal.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            if let kept { Unmanaged<CurlLoop>.fromOpaque(kept).takeRetainedValue().run() }
            return nil
        }
    }
#endif
