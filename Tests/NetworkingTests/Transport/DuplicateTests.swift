import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Duplicate requests")
struct DuplicateTests {
    private struct Search: Endpoint {
        var text = "swift"
        var method = HTTPMethod.get
        var body = HTTPBody.empty
        var headers: HTTPHeaders = []
        var settings = RequestSettings()
        var authorizationType = AuthorizationType.none
        var path: EndpointPath { "search" }
        var query: URLQuery { ["q": text] }
    }

    private let transport = ManualTransport()

    private func service(
        _ policy: DuplicateRequestPolicy, limit: ConcurrencyLimit = ConcurrencyLimit(),
        session: AccessTokenSupervisor? = nil, retry: RetryPolicy? = nil
    ) -> NetworkService {
        NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.concurrencyLimit = limit
            $0.retry = retry
            $0.duplicates = policy
            $0.transport = transport
        }
    }

    private func result(_ task: RequestTask<String>) async -> String {
        do { return try await task.value } catch {
            return (error as? GeneralRequestError).map { "\($0.code)" } ?? "\(error)"
        }
    }

    /// Starts a call of `endpoint`.
    private func begin(_ service: NetworkService, _ endpoint: Search = Search()) -> RequestTask<String> {
        service.task(endpoint, as: .string)
    }

    @Test("I-46: join: one request is sent, and every caller gets its response")
    func join() async throws {
        let joined = Box(0)
        let limit = ConcurrencyLimit()
        let service = service(counting(joined, .join), limit: limit)
        let first = begin(service)
        await transport.waitForRequests()
        let others = (0..<4).map { _ in begin(service) }
        await wait(for: 4, joined, limit)
        transport.answer(.ok, "found")
        for task in [first] + others { #expect(await result(task) == "found") }
        #expect(transport.count == 1)
    }

    @Test("I-40: the cancellation of one caller detaches only that caller; the last one cancels the transfer")
    func countedByReference() async throws {
        let joined = Box(0)
        let limit = ConcurrencyLimit()
        let service = service(counting(joined, .join), limit: limit)
        let first = begin(service)
        await transport.waitForRequests()
        let second = begin(service)
        await wait(for: 1, joined, limit)
        #expect(first.cancel())
        #expect(await result(first) == "cancelled")
        #expect(transport.endedCount == 0)
        transport.answer(.ok, "found")
        #expect(await result(second) == "found")
        #expect(transport.count == 1)
        let lonely = begin(service)
        await transport.waitForRequests()
        #expect(lonely.cancel())
        #expect(await result(lonely) == "cancelled")
        while transport.endedCount < 1 { await Task.yield() }
    }

    @Test("I-42: replace: the old call and its transfer are cancelled, and a new transfer starts")
    func replace() async throws {
        let service = service(.replace)
        let old = begin(service)
        await transport.waitForRequests()
        let new = begin(service)
        await transport.waitForRequests(2)
        #expect(await result(old) == "cancelled")
        while transport.endedCount < 1 { await Task.yield() }
        transport.answer(.ok, "old")
        transport.answer(.ok, "new")
        #expect(await result(new) == "new")
        #expect(transport.count == 2)
    }

    @Test("I-44: keep first: the new call is cancelled, and the old one continues")
    func keepFirst() async throws {
        let service = service(.keepFirst)
        let old = begin(service)
        await transport.waitForRequests()
        #expect(await result(begin(service)) == "cancelled")
        transport.answer(.ok, "found")
        #expect(await result(old) == "found")
        #expect(transport.count == 1)
    }

    @Test("I-45: keep latest: the old call is cancelled, and its transfer continues for the new one")
    func keepLatest() async throws {
        let service = service(.keepLatest)
        let old = begin(service)
        await transport.waitForRequests()
        let new = begin(service)
        #expect(await result(old) == "cancelled")
        transport.answer(.ok, "found")
        #expect(await result(new) == "found")
        #expect(transport.count == 1)
    }

    @Test("I-47, I-43: the transfer continues for a closure alone, or a new transfer starts for it")
    func observers() async throws {
        for isReplacing in [false, true] {
            let seen = Box<[String]>([])
            let observer: @Sendable (Result<HTTPResponse, any Error>) -> Void = { result in
                seen.change {
                    $0.append((try? result.get()).map { String(decoding: $0.data, as: UTF8.self) } ?? "failed")
                }
            }
            let service = service(
                DuplicateRequestPolicy { _, _ in
                    isReplacing ? .replace(notifying: observer) : .share(notifying: observer)
                })
            let before = transport.count
            let calls = [begin(service)]
            await transport.waitForRequests()
            #expect(await result(begin(service)) == "cancelled")
            #expect(await result(calls[0]) == "cancelled")
            await transport.waitForRequests(isReplacing ? 2 : 1)
            if isReplacing { transport.answer(.ok, "old") }
            transport.answer(.ok, "for the closure")
            while seen.value.isEmpty { await Task.yield() }
            #expect(seen.value == ["for the closure"])
            #expect(transport.count - before == (isReplacing ? 2 : 1))
        }
    }

    @Test("I-41: a closure decides for each pair of requests")
    func custom() async throws {
        let service = service(
            DuplicateRequestPolicy { running, new in
                #expect(running.url == new.url)
                return new.url.query?.contains("swift") == true ? .keepFirst : .allow
            })
        let swift = begin(service)
        await transport.waitForRequests()
        let rust = (0..<2).map { _ in begin(service, Search(text: "rust")) }
        await transport.waitForRequests(3)
        #expect(await result(begin(service)) == "cancelled")
        for _ in 0..<3 { transport.answer(.ok, "found") }
        for task in [swift] + rust { #expect(await result(task) == "found") }
    }

    @Test("I-48: the policy of the service applies to all calls; the policy of an endpoint overrides it")
    func ownPolicy() async throws {
        var own = Search()
        own.settings.duplicates = .keepFirst
        let service = service(.allow)
        let first = begin(service, own)
        await transport.waitForRequests()
        #expect(await result(begin(service, own)) == "cancelled")
        transport.answer(.ok, "found")
        #expect(await result(first) == "found")
    }

    @Test("I-40: only equal requests are duplicates: method, URL, headers and body are compared")
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
        let elsewhere = (begin(self.service(.keepFirst)), begin(self.service(.keepFirst)))
        await transport.waitForRequests(2)
        for _ in 0..<2 { transport.answer(.ok, "found") }
        #expect(await result(elsewhere.0) == "found")
        #expect(await result(elsewhere.1) == "found", "two services share no transfers")
    }

    @Test("Requests with unsafe methods are not compared by default")
    func unsafe() async throws {
        let service = service(.keepFirst)
        let calls = (0..<2).map { _ in begin(service, Search(method: .post)) }
        await transport.waitForRequests(2)
        for _ in 0..<2 { transport.answer(.ok, "done") }
        for task in calls { #expect(await result(task) == "done") }
    }

    @Test("Requests of one group replace each other even if they differ, and none gets the response of another")
    func groups() async throws {
        func search(_ text: String) -> Search {
            var search = Search(text: text)
            search.settings.duplicateGroup = "search"
            return search
        }
        let service = service(.replace)
        let first = begin(service, search("s"))
        await transport.waitForRequests()
        let second = begin(service, search("sw"))
        await transport.waitForRequests(2)
        #expect(await result(first) == "cancelled")
        let other = begin(service, Search(text: "elsewhere"))
        await transport.waitForRequests(3)
        for _ in 0..<3 { transport.answer(.ok, "found") }
        #expect(await result(second) == "found")
        #expect(await result(other) == "found")
        let joining = self.service(.join)
        let both = [begin(joining, search("a")), begin(joining, search("b"))]
        await transport.waitForRequests(2)
        for _ in both { transport.answer(.ok, "its own") }
        for task in both { #expect(await result(task) == "its own") }
        #expect(transport.count == 5)
    }

    @Test("A double tap on a POST with a new key each time is detected if unsafe methods are included")
    func doubleTap() async throws {
        let service = service(.always(.keepFirst, includesUnsafeMethods: true))
        let first = begin(service, Search(method: .post, headers: [.idempotencyKey: "1"]))
        await transport.waitForRequests()
        #expect(await result(begin(service, Search(method: .post, headers: [.idempotencyKey: "2"]))) == "cancelled")
        transport.answer(.ok, "bought")
        #expect(await result(first) == "bought")
    }

    @Test("If one caller leaves while another one joins, the transfer continues for the one that joined")
    func leavingWhileJoining() throws {
        let request = HTTPRequest(.get, try #require(URL(string: "https://a.example/")))
        let key = try #require(DuplicateKey(request, delivering: .buffered(limit: .max), hashingCredentials: true))
        for _ in 0..<20_000 {
            let first = SharedTransfer.Caller(beginning: key, in: RunningTransfers())
            let transfer = first.transfer
            let second = Box<SharedTransfer.Caller?>(nil)
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                if index == 0 { first.leave() } else { second.change { $0 = transfer.attach() } }
            }
            // If a caller has attached, its transfer continues, so a third caller can join.
            if second.value != nil { #expect(transfer.attach() != nil) }
        }
    }

    @Test("A transfer that ends makes room for the next one, but never removes another transfer")
    func roomForTheNext() throws {
        let request = HTTPRequest(.get, try #require(URL(string: "https://a.example/")))
        let key = try #require(DuplicateKey(request, delivering: .buffered(limit: .max), hashingCredentials: true))
        let running = RunningTransfers()
        func take() -> (isFree: Bool, transfer: SharedTransfer) {
            switch running.place(for: key, ignoring: []) {
            case .free(let beginner): (true, beginner.transfer)
            case .taken(let transfer): (false, transfer)
            }
        }
        func make() -> SharedTransfer { SharedTransfer.Caller(beginning: key, in: running).transfer }
        let (isFree, first) = take()
        #expect(isFree)
        #expect(!take().isFree && take().transfer === first)
        let second = make()
        #expect(running.replace(first, by: second))
        first.cancel("over")
        #expect(!take().isFree && take().transfer === second)
        #expect(!running.replace(first, by: make()))
        second.cancel("over")
        #expect(!running.replace(second, by: make()))
        #expect(take().isFree)
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
        #expect(try !isDuplicate(key { $0[option: DuplicateGroupOption.self] = "search" }))
        #expect(
            try !isDuplicate(DuplicateKey(plain.request, delivering: .buffered(limit: 7), hashingCredentials: true)))
        #expect(DuplicateKey(plain.request, delivering: .streamed, hashingCredentials: true) == nil)
        let numbered = try #require(key { $0.headers["X-Request-ID"] = "7" })
        #expect(numbered.isDuplicate(of: plain, ignoring: ["X-Request-ID"]))
        #expect(!numbered.isDuplicate(of: plain, ignoring: []))
    }

    @Test("The hash alone separates users with different credentials, unless credentials are ignored")
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
        let joined = Box(0)
        let duplicates = DuplicateHandlingTransport(transport, policy: counting(joined, .join), ignoring: ["Cookie"])
        let calls = ["1", "2"].map { cookie in
            Task {
                try await duplicates.send(
                    HTTPRequest(.get, url, headers: ["Cookie": cookie]), delivering: .buffered(limit: .max))
            }
        }
        while joined.value < 1 { await Task.yield() }
        await transport.waitForRequests()
        #expect(transport.count == 1)
        transport.answer(.ok, "one answer")
        for call in calls { #expect(try await call.value.text() == "one answer") }
    }

    @Test("Requests of a group with streamed bodies never share a response, nor do POSTs with different keys")
    func neverMixed() async throws {
        let stream = HTTPBody.source(length: 1, isReplayable: true) { try HTTPBody.string("x").open() }
        var upload = Search(method: .put, body: stream)
        upload.settings.duplicateGroup = "uploads"
        let service = service(.always(.join, includesUnsafeMethods: true))
        let calls = [
            begin(service, upload), begin(service, upload),
            begin(service, Search(method: .post, headers: [.idempotencyKey: "1"])),
            begin(service, Search(method: .post, headers: [.idempotencyKey: "2"])),
        ]
        await transport.waitForRequests(4)
        for _ in calls { transport.answer(.ok, "its own") }
        for task in calls { #expect(await result(task) == "its own") }
    }

    @Test("A custom error of a transport is thrown unchanged")
    func ownErrors() async throws {
        let stub = StubTransport { _ in throw UserError.cloudy }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.duplicates = .join
        }
        #expect(await Fixture.failure { try await service.request(Search()) } as? UserError == .cloudy)
    }

    @Test("A transfer that continues without its first caller keeps the permit of that caller until it ends")
    func keptPlace() async throws {
        let joined = Box(0)
        let limit = ConcurrencyLimit(2)
        let service = service(counting(joined, .join), limit: limit)
        let first = begin(service)
        await transport.waitForRequests()
        let second = begin(service)
        await wait(for: 1, joined, limit)
        #expect(first.cancel())
        #expect(await result(first) == "cancelled")
        #expect(limit.activeCount == 1)
        transport.answer(.ok, "found")
        #expect(await result(second) == "found")
        while limit.activeCount > 0 { await Task.yield() }
    }

    @Test("Requests of two users never share a transfer")
    func credentials() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("ada"), clock: Fixture.stillClock) { _ in
            AccessToken("none")
        }
        let service = service(.join, session: session)
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

    @Test("A superseded call is not retried by a handler")
    func noRetry() async throws {
        let service = service(.keepFirst, retry: RetryPolicy(retries: 5, on: .any))
        let first = begin(service)
        await transport.waitForRequests()
        #expect(await result(begin(service)) == "cancelled")
        transport.answer(.ok, "found")
        #expect(await result(first) == "found")
        #expect(transport.count == 1)
    }

    @Test("A joined caller releases its permit at once: 1,000 equal GETs with a limit of 4 send one request")
    func places() async throws {
        let limit = ConcurrencyLimit(4)
        let joined = Box(0)
        let service = service(counting(joined, .join), limit: limit)
        let first = begin(service)
        await transport.waitForRequests()
        let others = (0..<999).map { _ in begin(service) }
        await wait(for: 999, joined, limit)
        #expect(limit.waiterCount == 0)
        transport.answer(.ok, "found")
        for task in [first] + others { #expect(await result(task) == "found") }
        #expect(transport.count == 1)
        while limit.activeCount > 0 { await Task.yield() }
    }

    @Test("Every caller gets the failure of a shared transfer, and the handlers of each call see it")
    func failures() async throws {
        let joined = Box(0)
        let limit = ConcurrencyLimit()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.duplicates = counting(joined, .join)
            $0.concurrencyLimit = limit
            $0.backoffGate = nil
        }
        let tasks = [begin(service)]
        await transport.waitForRequests()
        let second = begin(service)
        await wait(for: 1, joined, limit)
        transport.answer(.badGateway)
        for task in tasks + [second] {
            let error = await Fixture.failure { _ = try await task.value } as? NetworkError
            #expect(error?.status == .badGateway)
        }
        #expect(transport.count == 1)
    }

    @Test("Headers that differ for each call do not separate equal requests")
    func ignoredFields() async throws {
        let service = service(.keepFirst)
        let first = begin(service, Search(headers: ["traceparent": "1"]))
        await transport.waitForRequests()
        #expect(await result(begin(service, Search(headers: ["traceparent": "2"]))) == "cancelled")
        transport.answer(.ok, "found")
        #expect(await result(first) == "found")
    }

    /// Waits until `count` callers have joined. A caller that has joined has released its own permit.
    private func wait(for count: Int, _ joined: Box<Int>, _ limit: ConcurrencyLimit) async {
        while joined.value < count || limit.activeCount > 1 { await Task.yield() }
    }

    /// Returns a policy that always returns `decision` and counts its calls.
    private func counting(
        _ count: Box<Int>, _ decision: DuplicateRequestPolicy.Decision
    ) -> DuplicateRequestPolicy {
        DuplicateRequestPolicy { _, _ in
            count.change { $0 += 1 }
            return decision
        }
    }

    @Test("A download that is refused by its status has ended, and an equal one is sent")
    func refusedDownload() async throws {
        let stub = StubTransport { _ in .status(.notFound) }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.duplicates = .keepFirst
        }
        let target = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        for _ in 0..<3 {
            let error = await Fixture.failure { _ = try await service.request(.get("film"), as: .file(at: target)) }
            #expect(error as? GeneralRequestError == .notFound)
        }
        #expect(stub.requests.count == 3)
    }
}
