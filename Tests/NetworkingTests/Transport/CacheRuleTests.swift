import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Checks the sentences of RFC 9111 that a private cache must or should obey. `CacheCase.all` contains requests for
/// each sentence.
@Suite("RFC 9111, sentence by sentence", .endsInTime)
struct CacheRuleTests {
    @Test("A private cache follows RFC 9111", arguments: CacheCase.all, CachePlace.allCases)
    func obeys(_ row: CacheCase, in store: CachePlace) async throws {
        let clock = ManualClock()
        let stub = StubTransport()
        let folder = try TemporaryFolder()
        let cache = try store.cache(in: folder, clock)
        let transport = CachingTransport(base: stub, cache: cache)
        for (index, step) in row.steps.enumerated() {
            clock.advance(by: .seconds(step.wait))
            let place: Comment = "step \(index + 1) of \(row.testDescription), \(store)"
            let before = stub.requests.count
            let now = clock.date
            stub.on(nil, nil) { _ in
                clock.advance(by: .seconds(step.latency))
                return step.reply?.with(headers: step.resolved(step.replyHeaders, at: now)) ?? .failure(.notConnected)
            }
            let url = try #require(URL(string: step.url ?? "https://api.example.com/" + step.path))
            var request = HTTPRequest(step.method, url, headers: step.resolved(step.sends, at: now))
            request.parts.order(caching: step.rule)
            let response = try? await transport.send(request, delivering: .buffered(limit: 1 << 20))
            let sent = stub.requests.dropFirst(before)
            #expect(sent.count == (step.isSent ? 1 : 0), place)
            for (name, value) in step.asks {
                #expect(sent.first?.headers[name] == value.map { step.resolved($0, at: now) }, place)
            }
            #expect((response == nil) == step.fails, place)
            guard let response else { continue }
            if let status = step.status { #expect(response.status.code == status, place) }
            if let text = step.text { #expect(String(decoding: response.data, as: UTF8.self) == text, place) }
            for (name, value) in step.has {
                #expect(response.headers[name] == value.map { step.resolved($0, at: now) }, place)
            }
            #expect(response.request.headers == request.headers, place)
        }
    }

    @Test("A row without steps names an existing test", arguments: CacheCase.all.filter { $0.test != nil })
    func namedTest(_ row: CacheCase) throws {
        let parts = try #require(row.test).split(separator: ".")
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../LoopbackTests/\(parts[0]).swift")
        #expect(try String(contentsOf: tests, encoding: .utf8).contains("func \(parts[1])("), "\(row.testDescription)")
        #expect(row.steps.isEmpty)
    }

    @Test("The table contains every section from 3 to 5 that has rules for a private cache")
    func sections() {
        let expected = [
            "3", "3.1", "3.2", "3.3", "3.4", "4", "4.1", "4.2", "4.2.1", "4.2.2", "4.2.3", "4.2.4", "4.3.1",
            "4.3.2", "4.3.3", "4.3.4", "4.3.5", "4.4", "5.1", "5.2", "5.2.1.1", "5.2.1.2", "5.2.1.3",
            "5.2.1.4", "5.2.1.5", "5.2.1.7", "5.2.2.1", "5.2.2.2", "5.2.2.3", "5.2.2.4", "5.2.2.5",
            "5.2.2.7", "5.2.2.9", "5.2.3", "5.3", "5.4",
        ]
        #expect(Set(expected).symmetricDifference(Set(CacheCase.all.map { $0.section })).isEmpty)
    }
}

/// A sentence of RFC 9111, and the steps that check whether the cache obeys the sentence.
struct CacheCase: Sendable, CustomTestStringConvertible {
    let section: String
    let sentence: String
    let steps: [Step]
    /// The test in `LoopbackTests` that checks a sentence that depends on the engine below the cache; nil for any other
    /// sentence.
    let test: String?

    var testDescription: String { "\(section): \(sentence)" }

    init(_ section: String, _ sentence: String, _ steps: Step...) {
        (self.section, self.sentence, self.steps, test) = (section, sentence, steps, nil)
    }

    init(_ section: String, _ sentence: String, test: String) {
        (self.section, self.sentence, steps, self.test) = (section, sentence, [], test)
    }

    /// A request, and its expected result. A field value such as `@-60` stands for the date 60 seconds ago.
    struct Step: Sendable {
        var wait = 0
        var method = HTTPMethod.get
        var path = "a"
        /// The URL of the request; nil if ``path`` determines the URL.
        var url: String?
        var sends: HTTPHeaders = [:]
        var rule: ResponseCache.Rule?
        /// Whether the request reaches the server.
        var isSent = true
        /// The fields that the server must receive; nil for a field that it must not receive.
        var asks: [HTTPHeader.Name: String?] = [:]
        /// The response of the server; nil if there is no network.
        var reply: StubResponse?
        var replyHeaders: HTTPHeaders = [:]
        var latency = 0
        var status: Int?
        var text: String?
        var has: [HTTPHeader.Name: String?] = [:]
        var fails = false

        func resolved(_ headers: HTTPHeaders, at now: Date) -> HTTPHeaders {
            HTTPHeaders(headers.map { HTTPHeader($0.name, resolved($0.value, at: now)) })
        }

        func resolved(_ value: String, at now: Date) -> String {
            guard value.hasPrefix("@"), let offset = Double(value.dropFirst()) else { return value }
            return HTTPDate(now.addingTimeInterval(offset)).description
        }
    }
}

extension CacheCase.Step {
    /// The request is sent, and the server responds with a body.
    static func sent(
        _ headers: HTTPHeaders = [:], _ body: String = "one", _ status: HTTPStatus = .ok,
        _ change: (inout CacheCase.Step) -> Void = { _ in }
    ) -> Self {
        var step = Self()
        step.reply = StubResponse(status, body: Data(body.utf8))
        step.replyHeaders = headers
        change(&step)
        return step
    }

    /// The request is not sent, because the cache responds.
    static func cached(
        _ text: String? = "one", after wait: Int = 0, _ change: (inout CacheCase.Step) -> Void = { _ in }
    ) -> Self {
        var step = Self()
        (step.isSent, step.text, step.wait) = (false, text, wait)
        change(&step)
        return step
    }

    /// The request is sent and gets no response.
    static func offline(after wait: Int = 0, _ change: (inout CacheCase.Step) -> Void = { _ in }) -> Self {
        var step = Self()
        step.wait = wait
        change(&step)
        return step
    }
}

extension StubResponse {
    fileprivate func with(headers: HTTPHeaders) -> StubResponse {
        var response = self
        response.headers = headers
        return response
    }
}
