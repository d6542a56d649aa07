import Foundation

/// A running ``TokenWorker``, ``CacheWorker`` or ``DownloadWorker``, which can be killed at any moment.
final class WorkerProcess {
    let name: String
    private let process = Process()
    private let input = Pipe()

    /// - Parameter arguments: The worker's arguments, without its name.
    init(_ name: String, _ arguments: [String]) throws {
        self.name = name
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        process.arguments = ["work"] + arguments + [name]
        process.standardInput = input
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    /// Closes the input of the process, which asks it to end.
    func endInput() { try? input.fileHandleForWriting.close() }

    /// Closes the input of the process, and waits up to 30 seconds until it has completed its calls and ended.
    ///
    /// - Returns: Whether the process ended in that time with exit status 0.
    func finish() -> Bool {
        endInput()
        let end = ContinuousClock.now + .seconds(30)
        while process.isRunning, ContinuousClock.now < end { usleep(10_000) }
        defer { kill() }
        return !process.isRunning && process.terminationStatus == 0
    }

    /// Kills the process with SIGKILL, so that it cannot run any more code.
    ///
    /// - Parameter note: Called when the signal has been sent, before the system has cleaned up the process.
    func kill(noting note: () -> Void = {}) {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        note()
        process.waitUntilExit()
    }
}
