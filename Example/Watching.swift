import Foundation
import Networking
import NetworkingTesting

/// The last chapter of the tour: what one sees of a call. A call that waits for the network, its picture, and a
/// recording for developer tools.
struct Watching {
    /// How many calls the chapter makes, and how many of them have to fail.
    static let expected = (calls: 1, failures: 0)

    private let ledger: Ledger
    private let server: LoopbackServer
    private let reachability: ReachabilityService
    private let service: NetworkService

    init(_ ledger: Ledger) throws {
        self.ledger = ledger
        server = try LoopbackServer { _ in .text("hello again") }
        let reachability = ReachabilityService(
            host: "127.0.0.1", port: server.port, interval: .milliseconds(20), intervalWhileDown: .milliseconds(5))
        self.reachability = reachability
        service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
            $0.errorHandlingService = ErrorHandlingService([ConnectivityErrorHandler(reachability)])
        }
    }

    /// - Parameters:
    ///   - recorder: What has recorded the tour.
    ///   - file: Where the recording is written; nil for nowhere.
    func play(recorder: HARRecorder, writing file: URL?) async throws {
        let token = service.observers.register(recorder)
        try await waitForTheNetwork()
        token.cancel()
        let archive = recorder.archive
        let count = archive.count
        if let file { try archive.encoded().write(to: file) }
        ledger.step(
            "\(count) exchanges were recorded"
                + (file.map { "; \($0.path) is for a browser's developer tools" } ?? ", which `--har FILE` writes"),
            isRight: count > 1_000)
    }

    /// The network goes away, a call waits for it, the network comes back, the call succeeds.
    private func waitForTheNetwork() async throws {
        var statuses = reachability.statuses.values().makeAsyncIterator()
        reachability.startMonitoring()
        _ = await statuses.next()
        server.stop()
        let away = await statuses.next()
        let (attempts, attempt) = AsyncStream.makeStream(of: RequestAttempt.self)
        let task = service.task(.get("hello"), as: .string).onAttempt(on: .global()) { attempt.yield($0) }
        async let text = ledger.call { try await task.value }
        for await _ in attempts { break }  // the first one has failed, and the call waits
        try server.restart()
        let answer = try await text
        reachability.stopMonitoring()
        ledger.step(
            "the network went away (\(away.map { "\($0)" } ?? "unknown")), a call waited for it and got: \(answer)",
            isRight: away == .notReachable && answer == "hello again")
        let picture = task.report?.waterfall ?? ""
        print(picture.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n"))
        ledger.step("its picture, above, has two attempts", isRight: task.report?.attempts.count == 2)
    }
}
