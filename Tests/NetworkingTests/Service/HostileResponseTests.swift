import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// What a server chooses costs a call at most a multiple of its bytes, and reaches no log as a control character.
@Suite("Hostile responses", .endsInTime)
struct HostileResponseTests {
    private let stub = StubTransport()

    private func service(_ set: (inout NetworkConfiguration) -> Void = { _ in }) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = ManualClock().networkClock
            set(&$0)
        }
    }

    private func problem(_ body: String) throws -> ProblemDetails? {
        let request = HTTPRequest(.get, try #require(URL(string: "https://api.example.com/v1/a")))
        let headers: HTTPHeaders = [.contentType: "application/problem+json"]
        return HTTPResponse(.badRequest, headers: headers, content: .data(Data(body.utf8)), to: request).problem
    }

    @Test("Problem details that are nested more than 64 times, or longer than 64 KiB, are not read")
    func problems() throws {
        let nest = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
        #expect(try problem("{\"title\":\"x\",\"a\":\(nest)}")?.title == "x")
        #expect(try problem("{\"title\":\"x\",\"a\":[\(nest)]}") == nil)
        #expect(try problem("{\"title\":\"\(String(repeating: "x", count: 65_000))\"}")?.title?.count == 65_000)
        #expect(try problem("{\"title\":\"\(String(repeating: "x", count: 65_536))\"}") == nil)
    }

    @Test("The bodies of redirects that were followed are not kept, neither with a response nor with an error")
    func redirects() async throws {
        let body = Data(repeating: 1, count: 100_000)
        stub.on(.get, "/v1/a", StubResponse(.found, headers: [.location: "/v1/b"], body: body))
        stub.on(.get, "/v1/b", StubResponse(.found, headers: [.location: "/v1/c"], body: body))
        stub.on(.get, "/v1/c", .text("there"), .status(.notFound))
        let seen = Box<[HTTPResponse]>([])
        let service = service { $0.observers = [RedirectObserver(seen: seen)] }
        let response: Response<String> = try await service.response(.get("a"), as: .string)
        #expect(response.http.redirects.map(\.status) == [.found, .found])
        #expect(response.http.redirects.allSatisfy { $0.data.isEmpty })
        let error = await Fixture.failure { _ = try await service.request(.get("a"), as: .string) }
        let cause = try #require(error?.originalNetworkError)
        let earlier = try #require(cause.response?.redirects)
        #expect(earlier.count == 2 && earlier.allSatisfy { $0.data.isEmpty })
        #expect(seen.value.count == 4 && seen.value.allSatisfy { $0.data.isEmpty })
    }

    @Test("An attempt that another attempt follows keeps 64 KiB of its body, the last one and the error 1 MiB")
    func attempts() async throws {
        let body = Data(repeating: 1, count: 3 << 20)
        stub.on(.get, "/v1/a", StubResponse(.serviceUnavailable, body: body))
        let service = service { $0.retry = RetryPolicy(retries: 2, backoff: .constant(.zero)) }
        let error = await Fixture.failure { _ = try await service.request(.get("a"), as: .data) }
        let cause = try #require(error?.originalNetworkError)
        #expect(cause.response?.data.count == 1 << 20)
        let attempts = try #require(cause.report?.attempts)
        #expect(attempts.map { $0.response?.data.count } == [64 << 10, 64 << 10, 1 << 20])
        #expect(attempts.map { ($0.error as? NetworkError)?.response?.data.count } == [64 << 10, 64 << 10, 1 << 20])
    }

    @Test("The error for a success that cannot be read keeps 1 MiB of its body")
    func unreadable() async throws {
        stub.on(
            .get, "/v1/a", StubResponse(.ok, headers: [.contentType: "application/json"], body: Data(count: 3 << 20)))
        let error = await Fixture.failure { _ = try await service().request(.get("a"), as: .json([Int].self)) }
        let cause = try #require(error?.originalNetworkError)
        #expect(cause.kind == .undecodableBody)
        #expect(cause.response?.data.count == 1 << 20)
        #expect(cause.report?.attempts.first?.response?.data.count == 1 << 20)
    }

    @Test("By default, a response of more than 32 MiB is not read into memory; the error names the setting")
    func size() async throws {
        stub.on(
            .get, "/v1/a", StubResponse(.ok, body: Data(count: 32 << 20)),
            StubResponse(.ok, body: Data(count: 32 << 20 + 1)))
        #expect(try await service().request(.get("a"), as: .data).count == 32 << 20)
        let error = await Fixture.failure { _ = try await service().request(.get("a"), as: .data) }
        #expect(error?.originalNetworkError?.kind == .responseTooLarge)
        #expect(error?.originalNetworkError?.debugDescription.contains("maximumResponseSize") == true)
    }

    /// Returns a converter whose reading does not end before `isOver` is true, and its number of readings so far.
    private func endless(until isOver: Box<Bool>) -> (converter: ResponseConverter<Int>, begun: Box<Int>) {
        let begun = Box(0)
        let converter = ResponseConverter<Int> { response, _ in
            begun.change { $0 += 1 }
            while !isOver.value { usleep(1_000) }
            return response.data.count
        }
        return (converter, begun)
    }

    @Test("Cancelling a call, and its deadline, end it at once while a large body is being read")
    func interruptedReading() async throws {
        let clock = ManualClock()
        let isOver = Box(false)
        defer { isOver.change { $0 = true } }
        stub.on(.get, "/v1/a", StubResponse(.ok, body: Data(count: 2 << 20)))
        let service = service { $0.clock = clock.networkClock }
        let (converter, begun) = endless(until: isOver)
        let cancelled = service.task(.get("a"), as: converter)
        while begun.value < 1 { await Task.yield() }
        cancelled.cancel()
        let error = await Fixture.failure { _ = try await cancelled.value }
        #expect(error?.originalNetworkError?.kind == .cancelled)
        let late = service.task(.get("a"), as: converter, with: RequestSettings { $0.timeouts.total = .seconds(3) })
        while begun.value < 2 { await Task.yield() }
        clock.advance(by: .seconds(3))
        let timeout = await Fixture.failure { _ = try await late.value }
        #expect(timeout?.originalNetworkError?.kind == .deadlineTimedOut)
    }

    @Test("Bodies of more than 16 KiB that are being read do not take the threads of other calls")
    func pool() async throws {
        let isOver = Box(false)
        let size = 16 << 10 + 1
        stub.on(.get, "/v1/a", StubResponse(.ok, body: Data(count: size)))
        stub.on(.get, "/v1/b", .text("there"))
        let service = service()
        let (converter, begun) = endless(until: isOver)
        let count = ProcessInfo.processInfo.activeProcessorCount + 2
        defer { isOver.change { $0 = true } }
        let tasks = (0..<count).map { _ in service.task(.get("a"), as: converter) }
        while begun.value < count { await Task.yield() }
        #expect(try await service.request(.get("b"), as: .string) == "there")
        isOver.change { $0 = true }
        for task in tasks { #expect(try await task.value == size) }
    }

    @Test("Large bodies that keep every core busy do not stop the reading of another one")
    func cores() async throws {
        let isOver = Box(false)
        let begun = Box(0)
        defer { isOver.change { $0 = true } }
        stub.on(.get, "/v1/a", StubResponse(.ok, body: Data(count: 2 << 20)))
        let service = service()
        let spinning = ResponseConverter<Int> { response, _ in
            begun.change { $0 += 1 }
            while !isOver.value {}
            return response.data.count
        }
        let count = ProcessInfo.processInfo.activeProcessorCount + 1
        let tasks = (0..<count).map { _ in service.task(.get("a"), as: spinning) }
        #expect(try await service.request(.get("a"), as: .data).count == 2 << 20)
        let other = ResponseConverter<Int> { response, _ in response.data.count }
        while begun.value < count { await Task.yield() }
        #expect(try await service.request(.get("a"), as: other) == 2 << 20)
        isOver.change { $0 = true }
        for task in tasks { #expect(try await task.value == 2 << 20) }
    }

    /// A value with escape sequences, C1 controls, line separators and changes of direction.
    private static let evil = "a\u{1B}[2J\u{7}\u{8}\u{9B}5m\u{202E}b\u{2066}\u{2028}c\u{85}d\u{200F}e"
    private static let controls: [Unicode.Scalar] = [
        "\u{1B}", "\u{7}", "\u{8}", "\u{9B}", "\u{202E}", "\u{2066}", "\u{2028}", "\u{85}", "\u{200F}", "\r", "\n",
    ]

    private func expectHarmless(_ text: String, _ what: String) {
        #expect(!text.unicodeScalars.contains(where: Self.controls.contains), "\(what): \(text.debugDescription)")
    }

    @Test("No control character and no change of direction of a server reaches a log line; one line is one line")
    func log() async throws {
        let evil = Self.evil
        let headers: HTTPHeaders = [
            "Server": evil, .eTag: evil, "Via": evil, .contentType: "text/plain; charset=\(evil)",
            .location: "https://a.example/\(evil)",
        ]
        stub.on(.get, "/v1/a", StubResponse(.ok, headers: headers, body: Data((evil + "\nforged line").utf8)))
        stub.on(.get, "/v1/b", StubResponse(.badRequest, headers: headers, body: Data(evil.utf8)))
        let lines = Box<[LogObserver.Line]>([])
        let redaction = Redaction.standard.allowing(bodies: true)
        let service = service {
            $0.observers = [
                LogObserver(level: .debug, redaction: redaction) { line in lines.change { $0.append(line) } }
            ]
        }
        _ = await Fixture.failure { _ = try await service.request(.get("a"), as: .string) }
        _ = await Fixture.failure { _ = try await service.request(.get("b"), as: .string) }
        #expect(lines.value.contains { $0.message.contains("Server: a\\u{1B}[2J") }, "\(lines.value)")
        #expect(lines.value.contains { $0.message.contains("\\nforged line") })
        for line in lines.value { expectHarmless(line.description, "a line") }
    }

    @Test("No control character and no change of direction of a server reaches a description or a HAR's text")
    func texts() async throws {
        let evil = Self.evil
        let headers: HTTPHeaders = [
            "Server": evil, .contentType: "text/\(evil)", .location: "https://a.example/\(evil)",
        ]
        for header in headers { expectHarmless("\(header)", "a field") }
        stub.on(.get, "/v1/a", StubResponse(.badRequest, headers: headers, body: Data(evil.utf8)))
        let recorder = HARRecorder(redaction: .revealed)
        let service = service { $0.observers = [recorder] }
        let error = await Fixture.failure {
            _ = try await service.request(
                .get("a"), as: .json([Int].self), with: RequestSettings { $0.validators = [.mediaType(.json)] })
        }
        let cause = try #require(error?.originalNetworkError)
        expectHarmless("\(cause)", "an error")
        for attempt in cause.report?.attempts ?? [] { expectHarmless("\(attempt)", "an attempt") }
        let text = String(decoding: try recorder.archive.encoded(), as: UTF8.self)
        for line in text.split(separator: "\n") { expectHarmless(String(line), "a HAR") }
        expectHarmless("\(recorder.archive)", "an archive")
        #expect(try HARArchive(data: Data(text.utf8)) == recorder.archive, "escaping changes no value")
    }
}

/// Collects the redirects that are reported.
private struct RedirectObserver: RequestObserver {
    let seen: Box<[HTTPResponse]>

    func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
        if case .redirected(let response, _) = event { seen.change { $0.append(response) } }
    }
}
