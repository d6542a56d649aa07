import Foundation
import Testing

/// A program that some tests need. If it is not installed, these tests are skipped with a comment. In CI, these tests
/// are not skipped: they fail if the program is not installed.
struct Tool {
    let name: String

    static let openssl = Tool(name: "openssl")
    static let nginx = Tool(name: "nginx")
    static let python = Tool(name: "python3")
    static let curl = Tool(name: "curl")
    static let shell = Tool(name: "sh")
    static let etcd = Tool(name: "etcd")
    static let strace = Tool(name: "strace")

    var comment: Comment { "\(name) is not installed" }
}

#if os(macOS) || os(Linux)
    extension Tool {
        /// The path of the program; nil if it is not installed.
        var path: String? {
            let folders =
                (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/sbin", "/usr/bin"]
            return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        }

        /// Whether the tests that need the program run: the program is installed, or the tests run in CI.
        var isExpected: Bool {
            path != nil || ProcessInfo.processInfo.environment["CI"] != nil
        }

        /// Starts the program. The program ends when the result is released.
        func start(_ arguments: [String], in folder: URL) throws -> RunningTool {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: try #require(path, "\(name) is not installed"))
            process.arguments = arguments
            process.currentDirectoryURL = folder
            // The program uses the libraries of the system, even if the tests run on another libcurl.
            process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "LD_LIBRARY_PATH" }
            let output = Pipe()
            process.standardOutput = output
            process.standardError =
                FileHandle(forWritingAtPath: folder.appendingPathComponent("\(name).log").path) ?? .nullDevice
            process.standardInput = Pipe()
            try process.run()
            return RunningTool(process: process, output: output.fileHandleForReading)
        }

        /// Runs the program, waits for its end, and requires that it succeeds.
        func run(_ arguments: [String], in folder: URL) throws {
            let running = try start(arguments, in: folder)
            _ = running.output.readDataToEndOfFile()
            running.process.waitUntilExit()
            try #require(running.process.terminationStatus == 0, "\(name) \(arguments.joined(separator: " ")) failed")
        }
    }

    /// A program that runs in parallel with the tests.
    final class RunningTool {
        let process: Process
        let output: FileHandle

        init(process: Process, output: FileHandle) {
            self.process = process
            self.output = output
        }

        deinit {
            // The process was started by a thread that blocks signals, and inherits the blocked signals. SIGKILL
            // cannot be blocked.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }
#else
    /// The other systems have no `Process`, so no program is expected there.
    extension Tool {
        struct Unavailable: Error {}

        var path: String? { nil }
        var isExpected: Bool { false }

        func start(_ arguments: [String], in folder: URL) throws -> RunningTool { throw Unavailable() }
        func run(_ arguments: [String], in folder: URL) throws { throw Unavailable() }
    }

    final class RunningTool {
        let output = FileHandle.nullDevice
    }
#endif

/// The temporary folder of a test. It is removed when the value is released.
final class Scratch: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("networking-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}
