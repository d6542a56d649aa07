import Foundation
import Networking
import NetworkingInspector
import NetworkingTesting

/// The last chapter of the tour: how to observe calls. It shows a call that waits for the network, the waterfall of
/// this call, and a recording for developer tools.
struct Watching {
    /// The number of calls in this chapter, and the number of calls that are expected to fail.
    static let expected = (calls: 1, failures: 0)

    private let ledger: Ledger
    private let server: LoopbackServer
    private let reachability: ReachabilityService
    private let service: NetworkService

    init(_ ledger: Ledger, _ inspector: NetworkInspector) throws {
        self.ledger = ledger
        server = try LoopbackServer { _ in .text("hello again") }
        let reachability = ReachabilityService(
            host: "127.0.0.1", port: server.port, interval: .milliseconds(20), intervalWhileDown: .milliseconds(5))
        self.reachability = reachability
        service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
            $0.observers.append(inspector)
            $0.errorHandlingService = ErrorHandlingService([ConnectivityErrorHandler(reachability)])
        }
    }

    /// Runs the chapter.
    ///
    /// - Parameters:
    ///   - recorder: The recorder of the tour.
    ///   - file: The location of the HAR file to which the recording is written. Nil writes no file.
    func play(recorder: HARRecorder, writing file: URL?) async throws {
        let token = service.observers.register(recorder)
        try await waitForTheNetwork()
        token.cancel()
        let archive = recorder.archive
        let count = archive.count
        if let file { try archive.encoded().write(to: file) }
        ledger.step(
            "\(count) exchanges were recorded"
                + (file.map { "; open \($0.path) in a browser's developer tools" } ?? "; `--har FILE` writes them"),
            isRight: count > 1_000)
    }

    /// The network becomes unavailable, a call waits for it, the network becomes available, and the call succeeds.
    private func waitForTheNetwork() async throws {
        var statuses = reachability.statuses.values().makeAsyncIterator()
        reachability.startMonitoring()
        _ = await statuses.next()
        server.stop()
        let away = await statuses.next()
        let (attempts, attempt) = AsyncStream.makeStream(of: RequestAttempt.self)
        let task = service.task(.get("hello"), as: .string).onAttempt(on: .global()) { attempt.yield($0) }
        async let text = ledger.call { try await task.value }
        for await _ in attempts { break }  // the first attempt has failed, and the call waits
        try server.restart()
        let answer = try await text
        reachability.stopMonitoring()
        ledger.step(
            "the network was down (\(away.map { "\($0)" } ?? "unknown")), a call waited for it and got: \(answer)",
            isRight: away == .notReachable && answer == "hello again")
        let picture = task.report?.waterfall ?? ""
        print(picture.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n"))
        ledger.step("the waterfall of the call, above, shows two attempts", isRight: task.report?.attempts.count == 2)
    }
}
