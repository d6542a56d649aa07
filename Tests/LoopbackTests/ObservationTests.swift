import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Observing engines")
    struct ObservationTests {
        @Test(
            "An engine reports each sent request and each received head of a redirect chain",
            arguments: Engine.allCases)
        func hops(engine: Engine) async throws {
            let server = try LoopbackServer { request in
                request.path == "/there"
                    ? .text("here") : LoopbackResponse(.found, headers: [.location: "/there"])
            }
            let observer = RecordingObserver()
            let transport = try engine.shared()
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.transport = transport
                $0.observers = [observer]
            }
            let response = try await service.response(.get("start"), as: .string)
            // The engine's thread and the call's task report events at the same time. The test checks the order of the
            // events of the thread, and the order of the events of the task.
            let names = observer.events.map { String("\($0.event)".prefix { $0 != "(" }) }
            #expect(names.filter { ["sent", "redirected"].contains($0) } == ["sent", "redirected", "sent"])
            #expect(
                names.filter { ["head", "redirected", "attemptEnded"].contains($0) } == [
                    "head", "redirected", "head", "attemptEnded",
                ])
            #expect(names.first == "started" && names.last == "finished")
            let attempt = try #require(response.report.attempts.first)
            #expect(attempt.redirects.map(\.status) == [.found] && attempt.queued != nil)
            #expect(response.report.waterfall.contains("1 redirect"))
        }

        @Test("Calls recorded from a real server return the same values when replayed without the server")
        func recordAndReplay() async throws {
            let server = try LoopbackServer { request in
                let body = try await request.data()
                return .json(["path": request.path, "body": String(decoding: body, as: UTF8.self)])
            }
            func calls(_ service: NetworkService) async throws -> [[String: String]] {
                [
                    try await service.request(.get("a").query("q", "1")),
                    try await service.request(.post("b").body(.json(["x": 1]))),
                    try await service.request(.put("c").body(.multipart([.field("f", "v")], boundary: "bound"))),
                ]
            }
            let recorder = HARRecorder(redaction: .revealed)
            let environment = NetworkEnvironment(baseURL: server.url)
            let live = try await calls(NetworkService(environment: environment) { $0.observers = [recorder] })
            server.stop()
            let replay = ReplayTransport(try HARArchive(data: recorder.archive.encoded()))
            #expect(try await calls(NetworkService(environment: environment) { $0.transport = replay }) == live)
            #expect(replay.unused.isEmpty)
        }
    }
}
