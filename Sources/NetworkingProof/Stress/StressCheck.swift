import Foundation
import Networking
import NetworkingTesting

/// Makes a million calls in every form, over a stub and over sockets, with log-ins of other users, invalid tokens,
/// resets, cancellation, deadlines, duplicates, closed gates, open breakers and faults.
struct StressCheck: Check {
    let name = "stress"
    let parts = ["stub", "loopback", "following"]
    private let callsPerRound = 20_000

    func run(_ report: Report, _ settings: ProofSettings) async throws {
        let calls = settings.count ?? (settings.isQuick ? 40_000 : 900_000)
        if settings.includes("stub") { try await run("stub", calls, report, settings) }
        if settings.includes("loopback") {
            try await run("loopback", settings.count ?? (settings.isQuick ? 10_000 : 100_000), report, settings)
        }
        if settings.includes("following") { await follow(report, settings) }
    }

    private func follow(_ report: Report, _ settings: ProofSettings) async {
        let begun = ContinuousClock.now
        let rounds = FollowingRounds(
            count: settings.count ?? (settings.isQuick ? 20_000 : 1_000_000),
            within: settings.isQuick ? .seconds(60) : .seconds(3_600), seed: settings.seed)
        let result = await withCheckedContinuation { done in
            Thread.detachNewThread { done.resume(returning: rounds.run()) }
        }
        report.end("stress following", since: begun, "\(result.count.grouped) rounds", violations: result.violations)
    }

    private func run(_ part: String, _ calls: Int, _ report: Report, _ settings: ProofSettings) async throws {
        let begun = ContinuousClock.now
        var violations: [String] = []
        var totals = StressTotals()
        var done = 0
        var number: UInt64 = 0
        while done < calls, violations.isEmpty {
            let seed = settings.seed &* 1_000 &+ number
            let size = max(min(callsPerRound, calls - done) / StressRound.workers, 1) * StressRound.workers
            // A call that never ends cannot be abandoned, so the whole program ends.
            let limit = Task.detached { [number] in
                guard (try? await Task.sleep(for: .seconds(240))) != nil else { return }
                report.end(
                    "stress \(part)", since: begun, "round \(number) with seed \(settings.seed)",
                    violations: ["rule 6: calls have not ended after 240 s"])
                exit(1)
            }
            defer { limit.cancel() }
            let found =
                part == "stub" ? await overStub(seed: seed, size) : try await overLoopback(seed: seed, size)
            totals += found.totals
            violations += found.violations.map { "seed \(settings.seed), round \(number): \($0)" }
            done += size
            number += 1
            report.progress("stress \(part)", since: begun, "\(done.grouped) of \(calls.grouped) calls")
        }
        report.end(
            "stress \(part)", since: begun,
            "\(done.grouped) calls of \(StressRound.workers) workers (\(totals)), seed \(settings.seed)",
            violations: violations + totals.missing(of: done))
    }

    private typealias Outcome = (violations: [String], totals: StressTotals)

    private func overStub(seed: UInt64, _ calls: Int) async -> Outcome {
        let backend = StressBackend(seed: seed)
        let random = RandomSource(SeededGenerator(seed: ~seed))
        let stub = StubTransport { request in
            var random = random
            for _ in 0..<Int.random(in: 0..<6, using: &random) {
                await Task.yield()
                try Task.checkCancellation()
            }
            let answer =
                request.url.lastPathComponent == "token"
                ? backend.refresh(with: String(decoding: request.body.data ?? Data(), as: UTF8.self))
                : backend.item(at: request.url.path, authorization: request.headers[.authorization])
            return answer.isLost
                ? .failure(.connectionLostBeforeHead)
                : .text(answer.body, status: answer.status, headers: answer.headers)
        }
        guard let url = URL(string: "https://stress.example") else { return (["no URL"], StressTotals()) }
        return await StressRound(seed: seed, url: url, transport: stub, backend: backend).run(calls)
    }

    private func overLoopback(seed: UInt64, _ calls: Int) async throws -> Outcome {
        let backend = StressBackend(seed: seed)
        let server = try LoopbackServer()
        defer { server.stop() }
        server.route(.post, "/token") { request in
            let text = try await String(decoding: request.data(), as: UTF8.self)
            return answer(backend.refresh(with: text), seed)
        }
        for path in ["/items/:id", "/open/:id"] {
            server.route(nil, path) { request in
                answer(backend.item(at: request.path, authorization: request.headers[.authorization]), seed)
            }
        }
        #if os(Linux)
            let transport = try CurlTransport()
        #else
            let transport = try URLSessionTransport()
        #endif
        return await StressRound(seed: seed, url: server.url, transport: transport, backend: backend).run(calls)
    }

    private func answer(_ answer: StressBackend.Answer, _ seed: UInt64) -> LoopbackResponse {
        let text = LoopbackResponse.text(answer.body, status: answer.status, headers: answer.headers)
        return answer.isLost ? text.failing(seed % 2 == 0 ? .resetBeforeHead : .closeBeforeHead) : text
    }
}

extension StressBackend.Answer {
    fileprivate var headers: HTTPHeaders { isBusy ? [.retryAfter: "1"] : [] }
}
