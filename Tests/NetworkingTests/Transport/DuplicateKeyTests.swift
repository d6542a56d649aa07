import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Which requests are duplicates", .endsInTime)
struct DuplicateKeyTests {
    struct Search: Endpoint {
        var text = "swift"
        var method = HTTPMethod.get
        var body = HTTPBody.empty
        var headers: HTTPHeaders = []
        var settings = RequestSettings()
        var authorizationType = AuthorizationType.none
        var path: EndpointPath { "search" }
        var query: URLQuery { ["q": text] }
    }

    let transport = ManualTransport()

    func service(_ policy: DuplicateRequestPolicy, session: AccessTokenSupervisor? = nil) -> NetworkService {
        NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.duplicates = policy
            $0.transport = transport
        }
    }

    func result(_ task: RequestTask<String>) async -> String {
        do { return try await task.value } catch {
            return (error as? GeneralRequestError).map { "\($0.code)" } ?? "\(error)"
        }
    }

    /// Starts a call of `endpoint`.
    func begin(_ service: NetworkService, _ endpoint: Search = Search()) -> RequestTask<String> {
        service.task(endpoint, as: .string)
    }

    @Test("Only equal requests are duplicates: method, URL, headers and body are compared", .row("I-40"))
    func differences() async throws {
        let service = service(.always(.keepFirst, includesUnsafeMethods: true))
        let different = [
            Search(), Search(text: "rust"), Search(method: .post), Search(headers: ["X-A": "1"]),
            Search(method: .post, body: .string("a")), Search(method: .post, body: .string("b")),
        ]
        let calls = different.map { begin(service, $0) }
        await transport.waitForRequests(different.count)
        for _ in different { transport.answer(.ok, "found") }
        for task in calls { #expect(await result(task) == "found") }
        let elsewhere = (begin(self.service(.always(.keepFirst))), begin(self.service(.always(.keepFirst))))
        await transport.waitForRequests(2)
        for _ in 0..<2 { transport.answer(.ok, "found") }
        #expect(await result(elsewhere.0) == "found")
        #expect(await result(elsewhere.1) == "found", "two services share no transfers")
    }

    @Test("Requests that use the cache or the network in different ways are not duplicates")
    func sources() async throws {
        let service = service(.always(.keepFirst))
        let rules = [ResponseCache.Rule.staleIfOffline, .reload, .off].map { rule in
            RequestSettings { $0.caching = rule }
        }
        let settings = rules + [RequestSettings(), RequestSettings { $0.networkAccess = [] }]
        let calls = settings.map { begin(service, Search(settings: $0)) }
        await transport.waitForRequests(settings.count)
        for setting in [RequestSettings { $0.caching = .fresh }, RequestSettings { $0.networkAccess = .all }] {
            #expect(await result(begin(service, Search(settings: setting))) == "cancelled")
        }
        for _ in settings { transport.answer(.ok, "found") }
        for task in calls { #expect(await result(task) == "found") }
        #expect(transport.count == settings.count)
    }

    @Test("Requests with unsafe methods are not compared by default")
    func unsafe() async throws {
        let service = service(.always(.keepFirst))
        let calls = (0..<2).map { _ in begin(service, Search(method: .post)) }
        await transport.waitForRequests(2)
        for _ in 0..<2 { transport.answer(.ok, "done") }
        for task in calls { #expect(await result(task) == "done") }
    }

    @Test("If unsafe methods are included, a double-tapped POST is detected, even with another idempotency key")
    func doubleTap() async throws {
        let service = service(.always(.keepFirst, includesUnsafeMethods: true))
        let first = begin(service, Search(method: .post, headers: [.idempotencyKey: "1"]))
        await transport.waitForRequests()
        #expect(await result(begin(service, Search(method: .post, headers: [.idempotencyKey: "2"]))) == "cancelled")
        transport.answer(.ok, "bought")
        #expect(await result(first) == "bought")
    }

    @Test("Requests are equal if they differ only in headers that are ignored")
    func equality() throws {
        let url = try #require(URL(string: "https://a.example/?q=1"))
        func key(_ change: (inout HTTPRequest) -> Void = { _ in }, limit: Int = .max) -> DuplicateKey? {
            var request = HTTPRequest(.get, url, headers: ["Accept": "text/plain"])
            change(&request)
            return DuplicateKey(request, delivering: .buffered(limit: limit), hashingCredentials: true)
        }
        let plain = try #require(key())
        func isDuplicate(_ other: DuplicateKey?) throws -> Bool {
            try plain.isDuplicate(of: #require(other), ignoring: ["X-Request-ID"])
        }
        #expect(try isDuplicate(key()))
        #expect(key()?.hash == plain.hash)
        #expect(try isDuplicate(key { $0.headers["x-request-id"] = "7" }))
        #expect(try !isDuplicate(key { $0.headers["Accept"] = "text/html" }))
        #expect(try !isDuplicate(key { $0.method = .head }))
        #expect(try !isDuplicate(key { $0.body = .string("x") }))
        #expect(try !isDuplicate(key { $0.url = url.appending(path: "more") }))
        #expect(try !isDuplicate(key(limit: 7)))
        #expect(try !isDuplicate(key { $0.parts.order(duplicateGroup: "search") }))
        #expect(
            try !isDuplicate(DuplicateKey(plain.request, delivering: .buffered(limit: 7), hashingCredentials: true)))
        #expect(DuplicateKey(plain.request, delivering: .streamed, hashingCredentials: true) == nil)
        let numbered = try #require(key { $0.headers["X-Request-ID"] = "7" })
        #expect(numbered.isDuplicate(of: plain, ignoring: ["X-Request-ID"]))
        #expect(!numbered.isDuplicate(of: plain, ignoring: []))
    }

    @Test("Requests with different credentials have different hashes, unless the credentials are ignored")
    func users() async throws {
        let url = try #require(URL(string: "https://a.example/"))
        func hash(_ token: String, hashingCredentials: Bool = true) -> Int? {
            let request = HTTPRequest(.get, url, headers: ["Accept": "text/plain", .authorization: "Bearer \(token)"])
            return DuplicateKey(request, delivering: .buffered(limit: 7), hashingCredentials: hashingCredentials)?
                .hash
        }
        #expect(hash("a") == hash("a"))
        #expect(hash("a") != hash("b"))
        #expect(hash("a", hashingCredentials: false) == hash("b", hashingCredentials: false))
        // The second call attaches only after the policy has returned. If the first call ends before that, the second
        // call sends its own request, and another round is needed.
        var hasShared = false
        for _ in 0..<3 where !hasShared { hasShared = try await sharesWithoutCookies(url) }
        #expect(hasShared)
    }

    /// Sends two requests with different cookies, which the transport ignores. Returns whether they shared a transfer.
    private func sharesWithoutCookies(_ url: URL) async throws -> Bool {
        let (joined, before) = (Box(0), transport.count)
        let duplicates = DuplicateHandlingTransport(transport, policy: counting(joined, .join), ignoring: ["Cookie"])
        let calls = ["1", "2"].map { cookie in
            Task {
                try await duplicates.send(
                    HTTPRequest(.get, url, headers: ["Cookie": cookie]), delivering: .buffered(limit: .max))
            }
        }
        while joined.value < 1 { await Task.yield() }
        let answering = Task {
            while !Task.isCancelled {
                transport.answer(.ok, "one answer")
                await Task.yield()
            }
        }
        defer { answering.cancel() }
        for call in calls { #expect(try await call.value.text() == "one answer") }
        return transport.count == before + 1
    }

    @Test("Requests of two users never share a transfer")
    func credentials() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("ada"), clock: Fixture.stillClock) { _ in
            AccessToken("none")
        }
        let service = service(.always(.join), session: session)
        let first = begin(service, Search(authorizationType: .bearer))
        await transport.waitForRequests()
        session.accessToken = AccessToken("grace")
        let second = begin(service, Search(authorizationType: .bearer))
        await transport.waitForRequests(2)
        transport.answer(.ok, "ada's")
        transport.answer(.ok, "grace's")
        #expect(await result(first) == "ada's")
        #expect(await result(second) == "grace's")
    }

    @Test("Requests are equal even if they differ in headers that have a new value for each call")
    func ignoredFields() async throws {
        let service = service(.always(.keepFirst))
        let first = begin(service, Search(headers: ["traceparent": "1"]))
        await transport.waitForRequests()
        #expect(await result(begin(service, Search(headers: ["traceparent": "2"]))) == "cancelled")
        transport.answer(.ok, "found")
        #expect(await result(first) == "found")
    }

    /// Returns a policy that always returns `decision` and counts its calls.
    private func counting(
        _ count: Box<Int>, _ decision: DuplicateRequestPolicy.Choice
    ) -> DuplicateRequestPolicy {
        DuplicateRequestPolicy { _, _ in
            count.change { $0 += 1 }
            return decision
        }
    }
}
