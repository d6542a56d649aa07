import Foundation
import NetworkingTesting
import Testing

@testable import Networking
@testable import NetworkingInspector

@Suite("What the inspector forgets", .endsInTime)
struct InspectorBoundsTests {
    private struct Big: Endpoint {
        let payload: Data
        var path: EndpointPath { "big" }
        var method: HTTPMethod { .post }
        var body: HTTPBody { .data(payload) }
    }

    private let stub = StubTransport()
    private let clock = ManualClock()
    private let call = RequestEvent.Call(id: UUID(), endpoint: AdHocEndpoint.get("socket"))

    private struct Wrapped: Error {
        let cause: any Error
    }

    @Test("An error of the app, and one of the standard mapping, keep no body", arguments: [true, false])
    func errors(isOfApp: Bool) async throws {
        let inspector = Inspection(.standard.allowing(bodies: true), bodyLimit: 1_000)
        stub.on(nil, nil) { _ in .status(.notFound) }
        let service = NetworkService(
            environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com"))
        ) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.observers.append(inspector)
            if isOfApp { $0.errorMapping = .init { error, _ in Wrapped(cause: error) } }
        }
        await #expect(throws: (any Error).self) {
            try await service.request(Big(payload: Data(count: 1 << 20)), as: .void)
        }
        let call = try #require(await inspector.archive.record.calls.first)
        let error = try #require(call.end?.error)
        #expect(error.originalNetworkError?.request?.body.data == nil && !(error is Wrapped))
        let name = isOfApp ? "Wrapped" : "GeneralRequestError"
        #expect(await inspector.archive.content.details.first?.steps.last?.text == "ended with \(name)")
    }

    @Test("A service that has the inspector twice shows each call, and each of its steps, once")
    func twice() async throws {
        let inspector = Inspection()
        stub.on(nil, nil, .text("x"))
        let service = NetworkService(
            environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com"))
        ) {
            $0.transport = stub
            $0.observers = [inspector, inspector]
        }
        let token = service.observers.register(inspector)
        let settings = RequestSettings { $0.observers = [inspector] }
        _ = try await service.request(.get("a"), as: .string, with: settings)
        withExtendedLifetime(token) {}
        let details = await inspector.archive.content.details
        #expect(details.count == 1 && details.first?.steps.count { $0.text == "has its permit" } == 1)
    }

    @Test("The calls that ended first are removed, then the oldest ones; their records ignore later events")
    func order() {
        let log = InspectorLog(.standard, limit: 2, bodyLimit: 0)
        let first = log.begin(call, at: .now)
        first.store(.finished(CallReport(of: nil, last: nil, duration: .zero)), at: .now)
        #expect(log.everything().calls.map(\.number) == [1])
        let running = (0..<2).map { _ in log.begin(call, at: .now) }
        #expect(log.everything().calls.map(\.number) == [2, 3])
        first.store(.messageSent(.text("late"), Date()), at: .now)
        _ = log.begin(call, at: .now)
        running[0].store(.finished(CallReport(of: nil, last: nil, duration: .zero)), at: .now)
        #expect(log.everything().calls.map(\.number) == [3, 4] && log.call(2) == nil)
    }

    @Test("A request that is only created, and a look into the cache, are no calls")
    func noCalls() async throws {
        let inspector = Inspection()
        let service = NetworkService(
            environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com"))
        ) {
            $0.transport = stub
            $0.cache = ResponseCache()
            $0.observers.append(inspector)
        }
        _ = try await service.httpRequest(for: .get("a"))
        _ = service.cachedResponse(.get("a"), as: .string)
        #expect(await inspector.archive.content.calls.isEmpty)
    }

    @Test("A call that is removed while it grows is subtracted once")
    func removalWhileGrowing() async throws {
        let log = InspectorLog(.standard.allowing(bodies: true), limit: 1, bodyLimit: 1 << 20)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { [call] in
                    for _ in 0..<200 {
                        let record = log.begin(call, at: .now)
                        record.store(.messageSent(.binary(Data(count: 20_000)), Date()), at: .now)
                        record.store(.finished(CallReport(of: nil, last: nil, duration: .zero)), at: .now)
                    }
                }
            }
        }
        #expect(log.size == log.everything().calls.reduce(0) { $0 + $1.size })
    }

    @Test("The page learns of the removal of a call whose own growth exceeds the limit of all calls")
    func removalByGrowth() {
        let log = InspectorLog(.standard.allowing(bodies: true), limit: 16, bodyLimit: 1 << 20)
        let records = (0..<16).map { _ in log.begin(call, at: .now) }
        let message = RequestEvent.messageSent(.binary(Data(count: (1 << 20) - 300)), Date())
        for record in records.dropFirst() { for _ in 0..<4 { record.store(message, at: .now) } }
        var position = InspectorLog.Position()
        #expect(log.changes(since: &position)?.calls.count == 16)
        for _ in 0..<4 { records[0].store(message, at: .now) }
        #expect(log.changes(since: &position)?.removed == [records[0].number])
    }

    @Test("The heads and the URLs of responses and redirects count, so that large ones remove calls earlier")
    func heads() throws {
        let log = InspectorLog(.standard, limit: 1_000, bodyLimit: 0)
        let url = try #require(URL(string: "https://api.example.com/\(String(repeating: "a", count: 20_000))"))
        let request = HTTPRequest(.get, url)
        let fields = (0..<200).map { HTTPHeader(HTTPHeader.Name("X-\($0)"), String(repeating: "v", count: 1_000)) }
        let hop = HTTPResponse(.found, headers: HTTPHeaders(fields), to: request)
        let response = HTTPResponse(.ok, headers: HTTPHeaders(fields), to: request)
            .reached(by: Array(repeating: hop, count: 20))
        for _ in 0..<60 {
            let record = log.begin(call, at: .now)
            record.store(.redirected(hop, to: request), at: .now)
            record.store(
                .attemptEnded(
                    RequestAttempt(number: 1, request: request, response: response, error: nil, duration: .zero)),
                at: .now)
            record.store(.finished(CallReport(of: nil, last: nil, duration: .zero)), at: .now)
        }
        let calls = log.everything().calls
        #expect(calls.count < 20 && calls.allSatisfy { $0.size > 21 * 200_000 + 22 * 20_000 })
    }

    @Test("A gate is not retained, and the parts of services that are gone are forgotten")
    func partsThatAreGone() async throws {
        let inspector = Inspection()
        var gate: BackoffGate? = BackoffGate(clock: clock.networkClock)
        let isGone = { [weak gate] in gate == nil }
        try inspector.parts.add(#require(gate), as: "a")
        gate = nil
        #expect(isGone())
        inspector.parts.add(BackoffGate(clock: clock.networkClock), as: "b")
        #expect(await inspector.archive.content.parts.isEmpty)
    }

    @Test("While an attempt runs, the sizes are those of this attempt")
    func sizesOfAttempts() throws {
        let log = InspectorLog(.standard, limit: 2, bodyLimit: 0)
        let request = HTTPRequest(.get, try #require(URL(string: "https://api.example.com/a")))
        let record = log.begin(call, at: .now)
        record.store(.attemptStarted(1, request), at: .now)
        let page = HTTPResponse(.serviceUnavailable, content: .data(Data(count: 120)), to: request)
        record.store(
            .attemptEnded(RequestAttempt(number: 1, request: request, response: page, error: nil, duration: .zero)),
            at: .now)
        #expect(log.everything().calls.first?.lastSizes.received == 120)
        record.store(.attemptStarted(2, request), at: .now)
        #expect(log.everything().calls.first?.lastSizes.received == nil)
    }
}
