import Foundation
import Testing

/// A program that some tests need. Where it is missing they are skipped with a word; CI installs it, and there a skip
/// is a failure.
struct Tool {
    let name: String

    static let openssl = Tool(name: "openssl")
    static let nginx = Tool(name: "nginx")
    static let python = Tool(name: "python3")
    static let curl = Tool(name: "curl")
    static let shell = Tool(name: "sh")
    static let etcd = Tool(name: "etcd")

    /// Where the program is; nil if it is not.
    var path: String? {
        let folders =
            (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/sbin", "/usr/bin"]
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Whether tests that need the program are run.
    var isExpected: Bool {
        path != nil || ProcessInfo.processInfo.environment["CI"] != nil
    }

    var comment: Comment { "\(name) is not installed" }

    /// Starts the program; whoever lets go of the result ends it.
    func start(_ arguments: [String], in folder: URL) throws -> RunningTool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(path, "\(name) is not installed"))
        process.arguments = arguments
        process.currentDirectoryURL = folder
        // Programs get the system's libraries, also if the tests run on another libcurl.
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "LD_LIBRARY_PATH" }
        let output = Pipe()
        process.standardOutput = output
        process.standardError =
            FileHandle(forWritingAtPath: folder.appendingPathComponent("\(name).log").path) ?? .nullDevice
        process.standardInput = Pipe()
        try process.run()
        return RunningTool(process: process, output: output.fileHandleForReading)
    }

    /// Runs the program to its end.
    func run(_ arguments: [String], in folder: URL) throws {
        let running = try start(arguments, in: folder)
        _ = running.output.readDataToEndOfFile()
        running.process.waitUntilExit()
        try #require(running.process.terminationStatus == 0, "\(name) \(arguments.joined(separator: " ")) failed")
    }
}

/// A program that runs beside the tests.
final class RunningTool {
    let process: Process
    let output: FileHandle

    init(process: Process, output: FileHandle) {
        self.process = process
        self.output = output
    }

    deinit {
        // It was started by a thread that holds signals back, and inherits that; only this one always arrives.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

/// A folder of a test, removed with it.
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
