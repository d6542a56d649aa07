import Foundation
import Networking
import NetworkingTesting

/// The server of the soak test. It runs in a process of its own, so that its threads and memory are not counted.
final class SoakServer: @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private var token = 1
    /// The time at which the current token was issued.
    private var changed = ContinuousClock.now
    /// The number of requests that were accepted since the current token was issued.
    private var accepted = 0
    private let server: LoopbackServer

    /// The content of the file and of the stream. No two parts of it are equal.
    static let file: Data = {
        var random = SeededGenerator(seed: 1)
        return Data((0..<(128 << 10) / 8).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } })
    }()
    /// The time before the slow response.
    static let slowness = Duration.seconds(2)
    static let events = 5

    init() throws {
        server = try LoopbackServer()
        server.route(.get, "/items/:id") { .json(SoakItem($0.parameters["id"])) }
        server.route(.get, "/cached/:id") {
            .json(SoakItem($0.parameters["id"]), headers: [.cacheControl: "max-age=1"])
        }
        server.route(.post, "/echo") { .json(try await $0.json(SoakItem.self)) }
        server.route(.put, "/upload") { request in
            let data = try await request.data()
            return .text(data == SoakServer.file ? "right" : "\(data.count)")
        }
        server.route(.get, "/file") { _ in LoopbackResponse(.ok, headers: [], body: SoakServer.file) }
        server.route(.get, "/stream") { _ in
            let starts = stride(from: 0, to: SoakServer.file.count, by: 4_096)
            return LoopbackResponse(content: .chunked(starts.map { SoakServer.file[$0..<$0 + 4_096] }))
        }
        server.route(.get, "/events") { _ in
            let text = (1...SoakServer.events).map { "id: \($0)\ndata: \($0)\n\n" }.joined()
            return LoopbackResponse(.ok, headers: [.contentType: "text/event-stream"], body: Data(text.utf8))
        }
        server.route(.get, "/slow") { _ in LoopbackResponse.text("slow").delayed(by: SoakServer.slowness) }
        server.route(.get, "/failing") { _ in LoopbackResponse.text("x").failing(.resetBeforeHead) }
        server.route(.get, "/missing") { _ in .status(.notFound) }
        server.route(.get, "/secret") { [self] in item(authorization: $0.headers[.authorization]) }
        server.route(.get, "/socket") { [self] in
            let response = item(authorization: $0.headers[.authorization])
            return response.status == .ok ? SoakServer.socket : response
        }
        server.route(.get, "/open-socket") { _ in SoakServer.socket }
        server.route(.post, "/token") { [self] _ in .text(currentToken) }
    }

    /// Prints the port, and runs until the input is closed.
    func run() {
        print(server.port)
        fflush(nil)
        while readLine() != nil {}
    }

    private var currentToken: String { lock.withLock { "\(token)" } }

    /// Responds with the item if the request carries the current or the previous token. The current token changes when
    /// it is at least a second old and 200 requests were accepted. Therefore no call is refused twice, even on a slow
    /// machine.
    private func item(authorization: String?) -> LoopbackResponse {
        let isCurrent = lock.withLock {
            if accepted >= 200, ContinuousClock.now - changed > .seconds(1) {
                (changed, accepted) = (.now, 0)
                token += 1
            }
            let isAccepted = authorization == "Bearer \(token)" || authorization == "Bearer \(token - 1)"
            accepted += isAccepted ? 1 : 0
            return isAccepted
        }
        return isCurrent ? .json(SoakItem("secret")) : .status(.unauthorized)
    }
}

/// The value that the calls send and receive.
struct SoakItem: Codable, Hashable, Sendable {
    var id: String
    var tags: [String]

    init(_ id: String?) {
        self.id = id ?? ""
        tags = ["one", "two", "three"]
    }
}

/// A running ``SoakServer``.
final class SoakServerProcess {
    let url: URL
    private let process = Process()
    private let input = Pipe()

    init() throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        process.arguments = ["work", "server"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let url = URL(string: "http://127.0.0.1:\(port.trimmingCharacters(in: .whitespacesAndNewlines))") else {
            throw URLError(.cannotConnectToHost)
        }
        self.url = url
    }

    /// Closes the input of the process, which then ends.
    func stop() {
        input.fileHandleForWriting.closeFile()
        process.waitUntilExit()
    }
}
