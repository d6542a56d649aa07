import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("The outcomes of duplicate requests", .endsInTime)
struct DuplicateOutcomeTests {
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

    @Test("If the only caller leaves while another caller joins, the transfer continues for the caller that joined")
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

    @Test(
        "After a transfer has ended, an equal transfer can begin; a replaced transfer does not remove its replacement")
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

    @Test("A custom error of a transport is thrown unchanged")
    func ownErrors() async throws {
        let stub = StubTransport { _ in throw UserError.cloudy }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.duplicates = .always(.join)
        }
        #expect(await Fixture.failure { try await service.request(Search()) } as? UserError == .cloudy)
    }

    @Test("A transfer that continues without its first caller holds the permit of that caller until the transfer ends")
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

    @Test(
        "The type of a shared response is checked for the caller that set Accept, not for one whose converter set it",
        arguments: [true, false])
    func sharedAccept(isFirstExplicit: Bool) async throws {
        let joined = Box(0)
        let limit = ConcurrencyLimit()
        let service = service(counting(joined, .join), limit: limit)
        let converter = ResponseConverter<String>.string.defaultHeaders([.accept: "application/json"])
        let explicit = Search(headers: [.accept: "application/json"])
        func begin(_ isExplicit: Bool) -> RequestTask<String> {
            isExplicit ? service.task(explicit, as: .string) : service.task(Search(), as: converter)
        }
        let first = begin(isFirstExplicit)
        await transport.waitForRequests()
        let second = begin(!isFirstExplicit)
        await wait(for: 1, joined, limit)
        transport.answer(.ok, "found", headers: [.contentType(.html)])
        #expect(await result(isFirstExplicit ? second : first) == "found")
        #expect(await result(isFirstExplicit ? first : second).contains("Content-Type"))
    }

    @Test("A call that is cancelled in favor of an equal call is not retried")
    func noRetry() async throws {
        let service = service(.always(.keepFirst), retry: RetryPolicy(retries: 5, on: .any))
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

    @Test("Every caller of a shared transfer receives the failure of the transfer")
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

    @Test("A download with an error status has ended, so the next equal download is sent")
    func refusedDownload() async throws {
        let stub = StubTransport { _ in .status(.notFound) }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.duplicates = .always(.keepFirst)
        }
        let target = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        for _ in 0..<3 {
            let error = await Fixture.failure { _ = try await service.request(.get("film"), as: .file(at: target)) }
            #expect(error as? GeneralRequestError == .notFound)
        }
        #expect(stub.requests.count == 3)
    }

    @Test("A failed attempt of a download has ended, so its retry is sent, even if a validator keeps the refused body")
    func keptBody() async throws {
        let stub = StubTransport { _ in .text("later", status: .serviceUnavailable) }
        let kept = Box<[HTTPResponse]>([])
        let keeping = ResponseValidator { response in
            kept.change { $0.append(response) }
            return .valid
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StreamingTransport(base: stub)
            $0.settings.validators = [keeping, .status(200..<300)]
            $0.duplicates = .always(.keepFirst)
            $0.retry = RetryPolicy(retries: 2)
            $0.backoffGate = nil
        }
        let target = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let error = await Fixture.failure { _ = try await service.request(.get("film"), as: .file(at: target)) }
        #expect((error as? NetworkError)?.status == .serviceUnavailable)
        #expect(stub.requests.count == 3)
        #expect(kept.value.count == 3)
    }
}

/// A transport that delivers every body as a stream.
private struct StreamingTransport: Transport {
    let base: any Transport

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        var response = try await base.send(request, delivering: delivery)
        response.content = .stream(try response.content.stream)
        return response
    }
}
