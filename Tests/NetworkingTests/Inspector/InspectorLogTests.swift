import Foundation
import NetworkingTesting
import Testing

@testable import Networking
@testable import NetworkingInspector

@Suite("What the inspector keeps", .endsInTime)
struct InspectorLogTests {
    private struct Big: Endpoint {
        let payload: Data
        var path: EndpointPath { "big" }
        var method: HTTPMethod { .post }
        var body: HTTPBody { .data(payload) }
    }

    private let stub = StubTransport()
    private let clock = ManualClock()
    private let call = RequestEvent.Call(id: UUID(), endpoint: AdHocEndpoint.get("socket"))

    private func service(
        _ inspector: Inspection, _ configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        NetworkService(environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com"))) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.observers.append(inspector)
            configure(&$0)
        }
    }

    @Test("Neither the endpoint nor its body is retained, and the sizes are counted")
    func memory() async throws {
        let inspector = Inspection(.standard.allowing(bodies: true), limit: 100, bodyLimit: 1_000)
        stub.on(nil, nil) { _ in .status(.serviceUnavailable) }
        let service = service(inspector)
        for _ in 0..<20 {
            await #expect(throws: (any Error).self) {
                try await service.request(Big(payload: Data(count: 1 << 20)), as: .void)
            }
        }
        let calls = await inspector.archive.record.calls
        #expect(calls.count == 20 && calls.allSatisfy { $0.size < 20_000 && $0.size > 2_000 })
        #expect(calls.allSatisfy { $0.report?.endpoint == nil && $0.template == "/big" })
        #expect(
            calls.allSatisfy { $0.failure?.request?.body.data == nil && $0.attempts[0].request?.body.length == 1 << 20 }
        )
        #expect(calls.allSatisfy { ($0.report?.error as? NetworkError)?.report == nil })
    }

    @Test("A body in a file, or of a form, is not read: only its length is kept")
    func files() async throws {
        let inspector = Inspection(.revealed)
        let file = FileManager.default.temporaryDirectory.appending(path: "inspected-\(UUID())")
        try Data("the text of the file".utf8).write(to: file)
        stub.on(nil, nil, .text("x"))
        _ = try await service(inspector).request(.post("a").body(.file(file)), as: .string)
        try Data("another text".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let archive = await inspector.archive
        let exchange = try #require(archive.content.details.first?.attempts.first?.exchanges.first)
        #expect(exchange.request.postData?.text == "<20 bytes of application/octet-stream>")
        #expect(archive.content.calls.first?.sent == 20)
    }

    @Test("A text is cut between two characters")
    func characters() {
        let text = Data(String(repeating: "日本", count: 10).utf8)
        for limit in 0...60 {
            let kept = text.prefix(whole: limit)
            #expect(kept.count <= limit && kept.count > limit - 3 && String(data: kept, encoding: .utf8) != nil)
        }
        #expect(Data(repeating: 0x80, count: 10).prefix(whole: 5).count >= 2)
        #expect(text.dropFirst(3).prefix(whole: 4) == Data("本".utf8))
    }

    @Test("The newest messages of a socket are kept, in the order of their dates, with their sizes")
    func messages() throws {
        let log = InspectorLog(.standard.allowing(bodies: true), limit: 10, bodyLimit: 4)
        let record = log.begin(call, at: .now)
        for number in 0..<600 {
            record.store(
                .messageReceived(.text("\(10_000 + number)"), Date(timeIntervalSince1970: Double(number))), at: .now)
        }
        record.store(
            .messageSent(.binary(Data([1, 2, 3, 0xFF, 0xFE, 7])), Date(timeIntervalSince1970: 0.5)), at: .now)
        let found = try #require(log.call(1))
        #expect(found.messages.count == 500 && found.omitted.messages == 101 && found.size < 500 * 300 + 5_000)
        let details = InspectorContent.Details(found, log.redaction)
        #expect(details.messages.first?.isSent == true && details.messages.first?.text.hasSuffix("<6 bytes>") == true)
        #expect(details.messages.last?.text == "1059… <5 bytes>")
        #expect(InspectorContent.Details(found, .standard).messages.last?.text == "<5 bytes>")
    }

    @Test("A call with many steps keeps the last ones, and is not larger than they are")
    func steps() throws {
        let log = InspectorLog(.standard, limit: 10, bodyLimit: 0)
        let record = log.begin(call, at: .now)
        for _ in 0..<5_000 { record.store(.waiting(.connectivity), at: .now) }
        let found = try #require(log.call(1))
        #expect(found.moments.count <= 500 && found.moments.count + found.omitted.moments == 5_000)
        #expect(found.size < 501 * 256 + 2_048)
    }

    @Test("A call with many attempts keeps the bodies of the last ones, and a socket the newest 4 MiB")
    func attempts() throws {
        let log = InspectorLog(.revealed, limit: 10, bodyLimit: 100_000)
        let request = HTTPRequest(.get, try #require(URL(string: "https://api.example.com/a")))
        let response = HTTPResponse(.serviceUnavailable, content: .data(Data(count: 60_000)), to: request)
        let record = log.begin(call, at: .now)
        for number in 1...300 {
            record.store(.attemptStarted(number, request), at: .now)
            record.store(
                .attemptEnded(
                    RequestAttempt(number: number, request: request, response: response, error: nil, duration: .zero)),
                at: .now)
        }
        for _ in 0..<200 { record.store(.messageSent(.binary(Data(count: 60_000)), Date()), at: .now) }
        let found = try #require(log.call(1))
        #expect(found.attempts.count == 300 && found.attempts.count { !($0.response?.data.isEmpty ?? true) } == 10)
        #expect(found.size < 10 * 60_000 + 4 << 20 + 300 * 5_000 && found.messages.count > 60)
        let details = InspectorContent.Details(found, .revealed)
        #expect(details.attempts.count == 300 && details.steps.last?.text.hasPrefix("attempt 300: 503") == true)
    }

    @Test("More calls in progress than the limit: the oldest are removed")
    func running() {
        let log = InspectorLog(.standard, limit: 3, bodyLimit: 0)
        for _ in 0..<10 {
            _ = log.begin(RequestEvent.Call(id: UUID(), endpoint: AdHocEndpoint.get("endless")), at: .now)
        }
        #expect(log.everything().calls.map(\.number) == [8, 9, 10])
        #expect(InspectorLog(.standard, limit: .max, bodyLimit: .max).everything().calls.isEmpty)
    }

    @Test("An endpoint that makes a call while it is read does not wait for ever")
    func endpointThatCalls() throws {
        struct Calling: Endpoint {
            let log: InspectorLog
            var path: EndpointPath {
                log.note("endpoint", "was read")
                return "a"
            }
        }
        let log = InspectorLog(.standard, limit: 3, bodyLimit: 0)
        _ = log.begin(RequestEvent.Call(id: UUID(), endpoint: Calling(log: log)), at: .now)
        #expect(log.everything().notes?.isEmpty == false && log.call(1)?.template == "/a")
    }

    @Test("A call in progress stays, and the page gets the numbers of the calls that were removed")
    func removals() throws {
        let log = InspectorLog(.standard, limit: 3, bodyLimit: 0)
        var position = InspectorLog.Position()
        _ = log.begin(call, at: .now)
        #expect(log.changes(since: &position)?.isWhole == true)
        #expect(log.changes(since: &position) == nil)
        for _ in 0..<5 { end(AdHocEndpoint.get("short"), in: log) }
        let changes = try #require(log.changes(since: &position))
        #expect(!changes.isWhole && changes.removed == [2, 3, 4] && changes.calls.map(\.number) == [5, 6])
        #expect(log.everything().calls.map(\.number) == [1, 5, 6])
        for _ in 0..<5_000 { end(AdHocEndpoint.get("short"), in: log) }
        let late = try #require(log.changes(since: &position))
        #expect(late.isWhole && late.calls.map(\.number) == [1, 5_005, 5_006])
        #expect(log.call(.max) == nil && log.call(-1) == nil && log.call(2) == nil)
    }

    private func end(_ endpoint: AdHocEndpoint, in log: InspectorLog) {
        let call = RequestEvent.Call(id: UUID(), endpoint: endpoint)
        let record = log.begin(call, at: .now)
        record.store(.finished(CallReport(of: endpoint, last: nil, duration: .zero)), at: .now)
    }

    @Test("An attempt that was paused begins again, and is one attempt")
    func pause() throws {
        let log = InspectorLog(.standard, limit: 3, bodyLimit: 0)
        let request = HTTPRequest(.get, try #require(URL(string: "https://api.example.com/a")))
        let record = log.begin(call, at: .now)
        for _ in 0..<3 {
            record.store(.attemptStarted(1, request), at: .now)
            record.store(.waiting(.paused), at: .now)
        }
        let found = try #require(log.call(1))
        #expect(found.attemptCount == 1)
        let summary = InspectorContent.Summary(found, .standard, log.everything().queues)
        #expect(summary.state == "waiting" && summary.reason == "is paused" && summary.attempts == 1)
    }

    @Test("An attempt that ends in its adapters has waited for a permit only until it had one")
    func adapterFails() async throws {
        let inspector = Inspection()
        let service = service(inspector) {
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { [clock] _, _ in
                    clock.advance(by: .seconds(3))
                    throw NetworkError(.invalidRequest, reason: "no key")
                }
            ])
        }
        await #expect(throws: (any Error).self) { try await service.request(.get("a")) }
        let content = await inspector.archive.content
        let phases = try #require(content.details.first?.attempts.first).phases
        #expect(phases.last?.name == "adapting" && (phases.last?.duration ?? 0) > 2_900)
        #expect(content.calls.first?.reason?.contains("no key") == true)
    }

    @Test("What adapting has added, removed and changed is a step, without values")
    func adapting() async throws {
        let inspector = Inspection()
        stub.on(nil, nil, .text("x"))
        let service = service(inspector) {
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in
                    request.headers["X-New"] = "s3cret"
                    request.headers["X-Old"] = "s3cret"
                    request.headers["X-Gone"] = nil
                    request.method = .put
                }
            ])
        }
        _ = try await service.request(.get("a").header("X-Old", "1").header("X-Gone", "2"), as: .string)
        let steps = try #require(await inspector.archive.content.details.first).steps.map(\.text)
        let adapting = try #require(steps.first { $0.hasPrefix("adapting:") })
        #expect(adapting.contains("X-New") && !adapting.contains("s3cret"))
        #expect(adapting.contains("removed X-Gone") && adapting.contains("changed X-Old"))
        #expect(adapting.contains("changed the method"))
    }

    @Test("Two services with one session: one note for each refresh, and neither service is retained")
    func sharedSession() async throws {
        let inspector = Inspection()
        stub.on(nil, nil, .text("x"))
        var session: AccessTokenSupervisor? = AccessTokenSupervisor(
            token: AccessToken("1"), clock: clock.networkClock
        ) { _ in AccessToken("2") }
        let isGone = { [weak session] in session == nil }
        for name in ["orders", "invoices"] {
            guard let session else { return }
            let service = NetworkService(
                environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com")),
                authorizedBy: session
            ) {
                $0.transport = stub
                $0.clock = clock.networkClock
                $0.observers.append(inspector)
            }
            inspector.parts.add(service, as: name)
        }
        _ = try await session?.refresh()
        while await inspector.archive.content.notes.count < 2 { await Task.yield() }
        let content = await inspector.archive.content
        #expect(content.notes.map(\.text) == ["logged in", "the token was refreshed"])
        #expect(content.parts.filter { $0.kind == "AccessTokenSupervisor" }.map(\.name) == ["orders, invoices"])
        session = nil
        while !isGone() { await Task.yield() }
        #expect(await !inspector.archive.content.parts.contains { $0.kind == "AccessTokenSupervisor" })
    }

    @Test("Facts of extreme values are texts")
    func extremes() async {
        for date in [
            Date.distantPast, .distantFuture, Date(timeIntervalSince1970: .nan), Date(timeIntervalSince1970: .infinity),
        ] {
            let session = AccessTokenSupervisor(
                token: AccessToken("s3cret", expiresAt: date), clock: clock.networkClock
            ) { _ in AccessToken("2") }
            let facts = await session.facts()
            #expect(facts.count == 4 && !facts.contains { $0.value.contains("s3cret") })
        }
        let budget = RetryPolicy.Budget(share: 0.1, reserve: 1, capacity: .max)
        #expect(await budget.facts().map(\.value) == ["1.0", "no limit"])
    }

    @Test("A part that does not answer delays nothing else, and says so")
    func hangingPart() async throws {
        struct Hanging: InspectablePart {
            let goesOn: Settlement<Void>
            func facts() async -> [(name: String, value: String)] {
                try? await goesOn.value()
                return [("it", "answers")]
            }
        }
        let inspector = Inspection()
        let goesOn = Settlement<Void>()
        inspector.parts.add(Hanging(goesOn: goesOn), as: "hanging")
        await inspector.parts.refresh(within: .zero)
        #expect(inspector.log.everything().parts?.map(\.facts) == [[["state", "has not answered yet"]]])
        goesOn.settle(.success(()))
        while inspector.log.everything().parts?.first?.facts != [["it", "answers"]] {
            await inspector.parts.refresh(within: .zero)
        }
    }
}
