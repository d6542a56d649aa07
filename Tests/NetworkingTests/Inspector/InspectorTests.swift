import Foundation
import NetworkingTesting
import Testing

@testable import Networking
@testable import NetworkingInspector

/// An inspector without its server.
final class Inspection: RequestObserver {
    let log: InspectorLog
    let parts: InspectorParts

    init(_ redaction: Redaction = .standard, limit: Int = 1_000, bodyLimit: Int = 64 << 10) {
        log = InspectorLog(redaction, limit: limit, bodyLimit: bodyLimit)
        parts = InspectorParts(log)
    }

    func observer(of call: RequestEvent.Call) -> any RequestObserver { log.begin(call, at: .now) }
    func observe(_ event: RequestEvent, of call: RequestEvent.Call) {}

    var archive: NetworkInspector.Archive {
        get async {
            await parts.refresh()
            return NetworkInspector.Archive(record: log.everything(), redaction: log.redaction)
        }
    }
}

@Suite("What the inspector shows", .endsInTime)
struct InspectorTests {
    private let stub = StubTransport()
    private let clock = ManualClock()

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

    @Test("A call that was not retried says why, and each decision is a step")
    func refusedRetry() async throws {
        let inspector = Inspection()
        stub.on(nil, nil, StubResponse(.serviceUnavailable))
        let service = service(inspector) { $0.retry = RetryPolicy(retries: 2, backoff: .constant(.zero)) }
        await #expect(throws: (any Error).self) { try await service.request(.post("orders").body(.string("x"))) }
        let content = await inspector.archive.content
        let call = try #require(content.calls.first)
        #expect(call.method == "POST" && call.template == "/orders" && call.state == "failed" && call.status == 503)
        let details = try #require(content.details.first)
        #expect(details.steps.contains { $0.text == "error handlers: not retried: POST without an idempotency key" })
        #expect(details.attempts.map(\.decisions) == [["not retried: POST without an idempotency key"]])
    }

    @Test("A retry and what the adapters have added are steps, in their order")
    func steps() async throws {
        let inspector = Inspection()
        let count = Box(0)
        stub.on(nil, nil) { [clock] _ in
            count.change { $0 += 1 }
            clock.advance(by: .milliseconds(20))
            return count.value == 1 ? StubResponse(.serviceUnavailable) : .text("yes")
        }
        let service = service(inspector) {
            $0.retry = RetryPolicy(retries: 2, backoff: .constant(.zero))
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in request.headers["X-Tenant"] = "secret-tenant" }
            ])
        }
        _ = try await service.request(.get("orders"), as: .string)
        let content = await inspector.archive.content
        let details = try #require(content.details.first)
        let texts = details.steps.map(\.text)
        #expect(texts.first?.hasPrefix("attempt 1 begins") == true && texts.last == "ended with a value", "\(texts)")
        #expect(texts.count { $0 == "adapting: added User-Agent, Accept-Language, X-Tenant" } == 2)
        #expect(texts.contains { $0.hasPrefix("error handlers: retried") })
        #expect(content.calls.first?.attempts == 2 && content.calls.first?.state == "done")
        #expect(details.attempts.count == 2 && details.attempts[1].phases.map(\.duration) == [20])
    }

    @Test("A call that waits says for what")
    func waits() async throws {
        let inspector = Inspection()
        let (arrived, goesOn) = (Settlement<Void>(), Settlement<Void>())
        stub.on(nil, nil) { _ in
            arrived.settle(.success(()))
            try await goesOn.value()
            return .text("x")
        }
        let service = service(inspector) { $0.concurrencyLimit = ConcurrencyLimit(1) }
        let first = service.task(.get("a"), as: .string)
        try await arrived.value()
        let second = service.task(.get("b"), as: .string)
        var found: InspectorContent.Summary?
        while found?.state != "waiting" {
            found = await inspector.archive.content.calls.last
            await Task.yield()
        }
        #expect(found?.template == "/b" && found?.reason == "waits for a permit (ConcurrencyLimit)")
        #expect(found?.waitsSince != nil)
        #expect(await inspector.archive.content.calls.first?.reason == "is about to be sent")
        let third = service.task(.get("c"), as: .string)
        while await inspector.archive.content.calls.count < 3 { await Task.yield() }
        while await inspector.archive.content.calls.last?.state != "waiting" { await Task.yield() }
        #expect(
            await inspector.archive.content.calls.last?.reason
                == "waits for a permit (ConcurrencyLimit); 1 for the same host have waited longer")
        goesOn.settle(.success(()))
        _ = try await (first.value, second.value, third.value)
        #expect(await inspector.archive.content.calls.map(\.state) == ["done", "done", "done"])
    }

    @Test("A call that waits because the host has asked for a pause says how much of it is left")
    func pause() async throws {
        let inspector = Inspection()
        let count = Box(0)
        stub.on(nil, nil) { _ in
            count.change { $0 += 1 }
            return count.value == 1 ? StubResponse(.tooManyRequests, headers: ["Retry-After": "12"]) : .text("x")
        }
        let service = service(inspector)
        inspector.parts.add(service, as: "service")
        await #expect(throws: (any Error).self) { try await service.request(.get("a")) }
        let second = service.task(.get("b"), as: .string)
        while await inspector.archive.content.calls.last?.state != "waiting" { await Task.yield() }
        #expect(
            await inspector.archive.content.calls.last?.reason
                == "waits, because the host has asked for a pause (BackoffGate), 12.0 s left")
        #expect(
            await inspector.archive.content.parts.contains {
                $0.facts == [["https://api.example.com:443", "12 s left"]]
            })
        second.cancel()
        await #expect(throws: (any Error).self) { try await second.value }
        #expect(await inspector.archive.content.calls.last?.state == "cancelled")
    }

    @Test("Two equal requests at the same time: the second one has joined the first")
    func joined() async throws {
        let inspector = Inspection()
        let (arrived, goesOn) = (Settlement<Void>(), Settlement<Void>())
        stub.on(nil, nil) { _ in
            arrived.settle(.success(()))
            try await goesOn.value()
            return .text("x")
        }
        let limit = ConcurrencyLimit(4)
        let service = service(inspector) {
            $0.duplicates = .always(.join)
            $0.concurrencyLimit = limit
        }
        let first = service.task(.get("a"), as: .string)
        try await arrived.value()
        let second = service.task(.get("a"), as: .string)
        while await inspector.archive.content.calls.count < 2 { await Task.yield() }
        while await inspector.archive.content.calls.last?.reason != "is about to be sent" { await Task.yield() }
        while limit.activeCount > 1 { await Task.yield() }  // a call that has joined has released its permit
        goesOn.settle(.success(()))
        _ = try await (first.value, second.value)
        #expect(await inspector.archive.content.calls.map(\.source) == ["network", "joined"])
    }

    @Test("A failed call has the kind of its error, and the reason without what the line shows already")
    func kinds() async throws {
        struct Mapped: Error {}
        let inspector = Inspection()
        stub.on(nil, nil, .failure(NetworkError(.cannotConnect, reason: "refused")))
        let service = service(inspector) {
            $0.errorHandlingService = ErrorHandlingService([AdHocErrorHandler { _ in .fail(Mapped()) }])
        }
        await #expect(throws: (any Error).self) { try await service.request(.get("a")) }
        let call = try #require(await inspector.archive.content.calls.first)
        #expect(call.kind == "cannotConnect" && call.status == nil)
        #expect(call.reason == "refused, thrown as Mapped")
    }

    @Test("A body that is not shown has its type and its size, and of a large one, the begin is kept")
    func bodies() async throws {
        for redaction in [Redaction.standard, .standard.allowing(bodies: true)] {
            let inspector = Inspection(redaction, bodyLimit: 100)
            let body = Data(repeating: UInt8(ascii: "x"), count: 5_000)
            stub.on(nil, nil, StubResponse(.ok, headers: ["Content-Type": "text/plain"], body: body))
            _ = try await service(inspector).request(.post("a").body(.data(body)), as: .string)
            let archive = await inspector.archive
            let exchange = try #require(archive.content.details.first?.attempts.first?.exchanges.first)
            let isShown = redaction.showsBodies
            let begin = String(repeating: "x", count: 100)
            #expect(exchange.response.content?.text == (isShown ? begin : "<5000 bytes of text/plain>"))
            #expect(exchange.request.postData?.text == "<5000 bytes of application/octet-stream>")
            #expect(exchange.response.content?.size == 5_000 && exchange.request.bodySize == 5_000)
            #expect(
                exchange.comment?.contains("only the first 100 of 5000 bytes of the response are kept") ?? false
                    == isShown)
            #expect(archive.content.calls.map(\.received) == [5_000] && archive.content.calls.map(\.sent) == [5_000])
            let kept = try #require(archive.record.calls.first?.attempts.first)
            #expect(kept.response?.data.count == (isShown ? 100 : 0))
            #expect(kept.request?.body.data == nil && kept.response?.request.body.data == nil)
            #expect(exchange.response.content?.comment == HARArchive.Content.hidden)
            let curl = try #require(archive.content.details.first?.curl)
            #expect(curl.contains(isShown ? "--data-binary @-" : "--data-raw '<5000 bytes>'"), "\(curl)")
        }
    }

    @Test("The calls that ended first are removed")
    func bounded() async throws {
        let inspector = Inspection(limit: 10, bodyLimit: 100)
        stub.on(nil, nil, .text(String(repeating: "x", count: 10_000)))
        let service = service(inspector)
        for number in 0..<25 { _ = try await service.request(.get("calls/\(number)"), as: .string) }
        let content = await inspector.archive.content
        #expect(content.calls.map(\.number) == Array(16...25))
        #expect(try await inspector.archive.html().count < 200_000)
    }

    @Test("No secret is in what is shown, unless everything is")
    func secrets() async throws {
        let secrets = ["s3cret-token", "s3cret-query", "s3cret-field", "s3cret-body", "s3cret-cookie", "s3cret-answer"]
        for redaction in [Redaction.standard, .revealed] {
            let inspector = Inspection(redaction)
            stub.on(
                nil, nil,
                StubResponse(.badRequest, headers: ["Set-Cookie": "a=s3cret-cookie"], body: Data("s3cret-answer".utf8)))
            let session = AccessTokenSupervisor(token: AccessToken("s3cret-token"), clock: clock.networkClock) { _ in
                throw AccessToken.Rejected()
            }
            let service = NetworkService(
                environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com")),
                authorizedBy: session
            ) {
                $0.transport = stub
                $0.clock = clock.networkClock
                $0.observers.append(inspector)
            }
            inspector.parts.add(service, as: "service")
            await #expect(throws: (any Error).self) {
                try await service.request(
                    .post("orders").query(["q": "s3cret-query"]).header("X-Field", "s3cret-field")
                        .body(.string("s3cret-body")).authorized())
            }
            let page = String(decoding: try await inspector.archive.html(), as: UTF8.self)
            let har = String(decoding: try await inspector.archive.har.encoded(), as: UTF8.self)
            for secret in secrets {
                #expect(page.contains(secret) == (redaction.isRevealed), "\(secret)")
                #expect(har.contains(secret) == (redaction.isRevealed), "\(secret)")
            }
        }
    }

    @Test(
        "Markup of a server stays text",
        arguments: [
            "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--", "]]>", "&lt;b&gt;",
            "\u{2028}alert(1)//", "\u{202E}gpj.exe", "\"><svg onload=alert(1)>", "${alert(1)}",
        ])
    func markup(payload: String) async throws {
        let inspector = Inspection(.revealed)
        stub.on(nil, nil, StubResponse(.badRequest, headers: ["X-Note": "n"], body: Data(payload.utf8)))
        await #expect(throws: (any Error).self) {
            try await service(inspector).request(.post("orders").body(.string(payload)))
        }
        let page = String(decoding: try await inspector.archive.html(), as: UTF8.self)
        let start = try #require(page.range(of: "id=\"content\""))
        let data = page[start.upperBound...]
        let end = try #require(data.range(of: "</script>"))
        #expect(!data[..<end.lowerBound].dropFirst(60).contains("<"), "nothing ends the element")
        let json = data[(try #require(data.firstIndex(of: ">")))...].dropFirst().prefix { $0 != "<" }
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
        #expect("\(value)".isEmpty == false)
        #expect(page.components(separatedBy: "<script").count == 3)
    }

    @Test("Log-ins and refreshes are notes, and each part says what it is doing")
    func parts() async throws {
        let inspector = Inspection()
        stub.on(nil, nil, .text("x"))
        let session = AccessTokenSupervisor(token: nil, clock: clock.networkClock) { _ in AccessToken("2") }
        let service = NetworkService(
            environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com")), authorizedBy: session
        ) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.circuitBreaker = CircuitBreaker(clock: clock.networkClock)
            $0.observers.append(inspector)
        }
        inspector.parts.add(service, as: "orders")
        session.accessToken = AccessToken("1")
        _ = try await session.refresh()
        session.accessToken = nil
        while await inspector.archive.content.notes.count < 3 { await Task.yield() }
        let notes = await inspector.archive.content.notes
        #expect(notes.map(\.text) == ["logged in", "the token was refreshed", "logged out"])
        for part in service.client.inspectableParts { #expect(await !part.facts().isEmpty) }
        #expect(
            service.client.inspectableParts.map { "\(type(of: $0))" }
                == ["ConcurrencyLimit", "BackoffGate", "CircuitBreaker", "AccessTokenSupervisor"])
    }
}
