import Foundation
import Networking
import Testing

/// A hostile case on one engine.
struct HostileRun: Sendable, CustomTestStringConvertible {
    let engine: Engine
    let hostile: HostileCase
    var tolerance: CFNetworkTolerance?

    var testDescription: String { "\(engine): \(hostile.name)" }

    /// Returns a run for each case and each engine, if the case is safe on the engine.
    static func all(
        _ cases: [HostileCase], on engines: [Engine] = Engine.allCases, cfNetwork tolerance: CFNetworkTolerance? = nil
    ) -> [HostileRun] {
        #if os(Linux)
            // Foundation with a libcurl before 7.87 crashes in more cases than are listed.
            let engines = engines.filter { $0 == .curl || (try? Engine.hasLossyHTTP2()) == false }
        #endif
        return engines.flatMap { engine in
            cases.map { HostileRun(engine: engine, hostile: $0, tolerance: tolerance) }
        }
        .filter { run in run.hostile.expected(on: run.engine).allSatisfy(\.isSafe) }
    }

    /// Runs the calls of the case, and then a call to a correct server on the same transport.
    func check() async throws {
        let server = try RawServer { [scripts = hostile.scripts] connection in
            connection.run(scripts[min(connection.number, scripts.count - 1)])
        }
        let transport = try hostile.client.transport(on: engine)
        let outcomes = hostile.expected(on: engine)
        try #require(outcomes.count == hostile.calls.count)
        for (call, expected) in zip(hostile.calls, outcomes) {
            if call.pause > .zero { try await Task.sleep(for: call.pause) }
            let result = await HostileRun.end(of: call, to: server.url, idle: hostile.idle, on: transport)
            let got = HostileOutcome.text(result)
            #expect(allows(result, expected), "\(testDescription): expected \(expected), got \(got)")
        }
        let correct = try (hostile.client == .http2 ? HostileRun.correctHTTP2 : HostileRun.correct).get()
        let result = await HostileRun.end(of: .get, to: correct.url, idle: .seconds(10), on: transport)
        let got = HostileOutcome.text(result)
        #expect(HostileOutcome.hello.matches(result), "\(testDescription): a correct server then caused \(got)")
    }

    private func allows(_ result: Result<HTTPResponse, NetworkError>, _ expected: HostileOutcome) -> Bool {
        if expected.matches(result) { return true }
        guard engine == .urlSessionOnApple, tolerance?.allows(result) == true else { return false }
        if case .success = result { return !expected.isEarlyEnd }
        return true
    }

    /// Sends a call, and cancels it if it still runs long after its idle timeout.
    private static func end(
        of call: HostileCall, to url: URL, idle: Duration, on transport: any Transport
    ) async -> Result<HTTPResponse, NetworkError> {
        let body: HTTPBody = call.bodyCount == 0 ? .empty : .data(Data(count: call.bodyCount))
        let request = HTTPRequest(call.method, url, body: body, timeouts: HTTPRequest.Timeouts(idle: idle))
        let sending = Task { try await transport.send(request, delivering: .buffered(limit: 1 << 20)) }
        let watchdog = Task {
            try await Task.sleep(for: idle * 3 + .seconds(2))
            sending.cancel()
        }
        defer { watchdog.cancel() }
        return await sending.result.mapError { error in
            error as? NetworkError ?? NetworkError(.unknown, reason: "not a NetworkError: \(error)")
        }
    }

    private static let correct = Result {
        try RawServer { connection in while connection.readHead() { connection.write(.hello) } }
    }

    private static let correctHTTP2 = Result {
        try RawServer { connection in
            guard connection.read(HTTP2.preface.count) == HTTP2.preface else { return }
            _ = connection.write(HTTP2.settings())
            while let stream = connection.readHeaders(), connection.write(HTTP2.hello(on: stream)) {}
        }
    }
}
