import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Duplicate requests", .endsInTime)
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

    @Test("Join: one request is sent, and every caller gets its response", .row("I-46"))
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

    @Test(
        "Cancelling one caller detaches only that caller; cancelling the last caller cancels the transfer",
        .row("I-40"))
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

    @Test("Replace: the old call and its transfer are cancelled, and a new transfer starts", .row("I-42"))
    func replace() async throws {
        let service = service(.always(.replace))
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

    @Test("Keep first: the new call is cancelled, and the old call continues", .row("I-44"))
    func keepFirst() async throws {
        let service = service(.always(.keepFirst))
        let old = begin(service)
        await transport.waitForRequests()
        #expect(await result(begin(service)) == "cancelled")
        transport.answer(.ok, "found")
        #expect(await result(old) == "found")
        #expect(transport.count == 1)
    }

    @Test("Keep latest: the old call is cancelled, and its transfer continues for the new call", .row("I-45"))
    func keepLatest() async throws {
        let service = service(.always(.keepLatest))
        let old = begin(service)
        await transport.waitForRequests()
        let new = begin(service)
        #expect(await result(old) == "cancelled")
        transport.answer(.ok, "found")
        #expect(await result(new) == "found")
        #expect(transport.count == 1)
    }

    @Test("With an observer, both calls end; the transfer continues, or a new transfer starts", .row("I-47", "I-43"))
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

    @Test("A closure decides for each pair of requests", .row("I-41"))
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

    @Test("The policy of the service applies to all calls; the policy of an endpoint overrides it", .row("I-48"))
    func ownPolicy() async throws {
        var own = Search()
        own.settings.duplicates = .always(.keepFirst)
        let service = service(.always(.allow))
        let first = begin(service, own)
        await transport.waitForRequests()
        #expect(await result(begin(service, own)) == "cancelled")
        transport.answer(.ok, "found")
        #expect(await result(first) == "found")
    }

    /// Waits until `count` callers have joined. A caller that has joined has released its own permit.
    private func wait(for count: Int, _ joined: Box<Int>, _ limit: ConcurrencyLimit) async {
        while joined.value < count || limit.activeCount > 1 { await Task.yield() }
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

    @Test("The observer of a replacing transfer is notified even if the response of the transfer arrives at once")
    func observedRestart() async throws {
        let told = Box(0)
        let first = ManualTransport()
        let isFirst = Box(true)
        struct Switch: Transport {
            let first: ManualTransport
            let isFirst: Box<Bool>

            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                guard isFirst.value else { return HTTPResponse(.ok, content: .data(Data("now".utf8)), to: request) }
                isFirst.change { $0 = false }
                return try await first.send(request, delivering: delivery)
            }
        }
        let policy = DuplicateRequestPolicy { _, _ in
            .replace(notifying: { result in if case .success = result { told.change { $0 += 1 } } })
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.errorMapping = .unmapped
            $0.transport = Switch(first: first, isFirst: isFirst)
            $0.duplicates = policy
        }
        async let earlier = Fixture.failure { try await service.request(UserEndpoint.open) }
        await first.waitForRequests()
        let error = await Fixture.failure { try await service.request(UserEndpoint.open) }
        #expect((error as? NetworkError)?.kind == .cancelled)
        #expect((await earlier as? NetworkError)?.kind == .cancelled)
        for _ in 0..<100_000 where told.value == 0 { await Task.yield() }
        #expect(told.value == 1)
    }
}
