import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Conditional writes", .endsInTime)
struct UpdateTests {
    private struct Item: Codable, Sendable, Equatable {
        var count: Int
    }

    private enum ItemEndpoint: Endpoint {
        case fetch
        case replace(Item)

        var path: EndpointPath { "item" }
        var method: HTTPMethod { if case .replace = self { .put } else { .get } }
        var body: HTTPBody { if case .replace(let item) = self { .json(item) } else { .empty } }
        var authorizationType: AuthorizationType { .bearer }
    }

    /// A server with one item, whose version is its entity tag.
    private struct State: Sendable {
        var version = 1
        var count = 10
        /// The number of changes that somebody else makes, each before a write.
        var changes = 0
        /// The responses to writes that are lost although the write is executed.
        var losses = 0
        var tag = { (version: Int) in "\"v\(version)\"" } as @Sendable (Int) -> String?
    }

    private static let request = HTTPRequest(.get, Fixture.environment.baseURL ?? URL(fileURLWithPath: "/"))

    private let state = Box(State())
    private let stub = StubTransport()

    private func service(
        session: AccessTokenSupervisor? = nil, configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        let state = state
        stub.on(.get, "/v1/item") { _ in
            let now = state.value
            return StubResponse(
                .ok, headers: [.contentType: "application/json", .eTag: now.tag(now.version) ?? "W/\"weak\""],
                body: try JSONEncoder().encode(Item(count: now.count)))
        }
        stub.on(.put, "/v1/item") { request in
            let item = try JSONDecoder().decode(Item.self, from: request.body.data ?? Data())
            var answer = StubResponse.status(.noContent)
            state.change { now in
                if now.changes > 0 {
                    (now.changes, now.version, now.count) = (now.changes - 1, now.version + 1, now.count + 100)
                }
                guard request.headers[.ifMatch] == now.tag(now.version) else {
                    answer = .status(.preconditionFailed)
                    return
                }
                (now.version, now.count) = (now.version + 1, item.count)
                if now.losses > 0 {
                    now.losses -= 1
                    answer = .failure(.connectionLostBeforeHead)
                }
            }
            return answer
        }
        return NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.clock = Fixture.stillClock
            configure(&$0)
        }
    }

    private func addOne(_ service: NetworkService, attempts: Int = 3) async throws {
        try await service.update(ItemEndpoint.fetch, attempts: attempts) { (item: Item) in
            ItemEndpoint.replace(Item(count: item.count + 1))
        }
    }

    @Test("A write carries the entity tag of the value that was read")
    func quiet() async throws {
        let service = service()
        try await addOne(service)
        #expect(state.value.count == 11)
        #expect(stub.requests.map { $0.headers[.ifMatch] } == [nil, "\"v1\""])
    }

    @Test("After a conflict, the change is applied to the new value, so that nobody's change is lost")
    func conflict() async throws {
        state.change { $0.changes = 2 }
        let service = service()
        try await addOne(service)
        #expect(state.value.count == 211)
        #expect(stub.requests.map(\.method) == [.get, .put, .get, .put, .get, .put])
    }

    @Test("If every attempt conflicts, the error has the current value", arguments: [(1, 1), (2, 2), (0, 1), (-3, 1)])
    func exhausted(attempts: Int, writes: Int) async throws {
        state.change { $0.changes = 9 }
        let service = service()
        let error = await Fixture.failure { try await addOne(service, attempts: attempts) }
        let conflict = try #require(error as? Response<Item>.Conflict)
        #expect(conflict.attempts == writes && !conflict.mayHaveBeenWritten)
        #expect(conflict.current?.value == Item(count: 10 + 100 * writes))
        let cause = conflict.underlying as? NetworkError ?? (conflict.underlying as? GeneralRequestError)?.cause
        #expect(cause?.status == .preconditionFailed, "\(conflict.underlying)")
        #expect(stub.requests.filter { $0.method == .put }.count == writes)
    }

    @Test("A write whose response was lost, and whose retry is refused, is not applied a second time")
    func lostResponse() async throws {
        state.change { $0.losses = 1 }
        let service = service { $0.retry = RetryPolicy(retries: 1, backoff: .constant(.zero)) }
        let error = await Fixture.failure { try await addOne(service) }
        let conflict = try #require(error as? Response<Item>.Conflict)
        #expect(conflict.mayHaveBeenWritten && conflict.current?.value == Item(count: 11))
        #expect(state.value.count == 11)
        #expect("\(conflict)".contains("one may have been executed"))
    }

    @Test("An end of all calls between two calls of the update ends it, so that nothing is written afterwards")
    func endedBetween() async throws {
        let service = service()
        let error = await Fixture.failure {
            try await service.update(ItemEndpoint.fetch) { (item: Item) in
                service.cancelAll()
                return ItemEndpoint.replace(item)
            }
        }
        #expect(error as? GeneralRequestError == .cancelled)
        #expect(stub.requests.map(\.method) == [.get])
        #expect(service.client.calls.count == 0)
    }

    @Test("A 412 is a conflict, although the validators of the call accept every status")
    func everyStatus() async throws {
        state.change { $0.changes = 9 }
        let service = service { $0.settings.validators = [] }
        let error = await Fixture.failure { try await addOne(service) }
        #expect((error as? Response<Item>.Conflict)?.attempts == 3)
    }

    @Test("If the current value cannot be read, the conflict still says that the write may have been executed")
    func unreadable() async throws {
        state.change { $0.losses = 1 }
        let service = service { $0.retry = RetryPolicy(retries: 1, backoff: .constant(.zero)) }
        let reads = Box(0)
        stub.on(.get, "/v1/item") { _ in
            reads.change { $0 += 1 }
            guard reads.value == 1 else { return .status(.forbidden) }
            return StubResponse(
                .ok, headers: [.contentType: "application/json", .eTag: "\"v1\""], body: Data(#"{"count":10}"#.utf8))
        }
        let error = await Fixture.failure { try await addOne(service) }
        let conflict = try #require(error as? Response<Item>.Conflict)
        #expect(conflict.mayHaveBeenWritten && conflict.current == nil)
        #expect(conflict.errorDescription == "It is not certain whether your change was saved.")
    }

    @Test("A retry after a refusal that changed nothing leaves no doubt")
    func refused() async throws {
        state.change { $0.changes = 1 }
        let service = service { $0.retry = RetryPolicy(retries: 1, backoff: .constant(.zero)) }
        let refusals = Box(1)
        let state = state
        stub.on(.put, "/v1/item") { request in
            if refusals.value > 0 {
                refusals.change { $0 -= 1 }
                return .status(.tooManyRequests)
            }
            guard request.headers[.ifMatch] == "\"v2\"" else {
                state.change { ($0.version, $0.count) = (2, 20) }
                return .status(.preconditionFailed)
            }
            return .status(.noContent)
        }
        try await addOne(service)
        #expect(
            stub.requests.filter { $0.method == .put }.map { $0.headers[.ifMatch] } == ["\"v1\"", "\"v1\"", "\"v2\""])
    }

    @Test("A weak entity tag, or none, is an error before anything is written")
    func weakTags() async throws {
        state.change { $0.tag = { _ in nil } }
        let service = service { $0.errorMapping = .unmapped }
        let error = await Fixture.failure { try await addOne(service) } as? NetworkError
        #expect(error?.kind == .invalidRequest)
        #expect(error?.reason?.contains("strong ETag") == true && error?.reason?.contains("W/\"weak\"") == true)
        #expect(stub.requests.map(\.method) == [.get])
    }

    @Test("A key and a condition of the settings do not reach the other calls of the update")
    func settingsOfOneCall() async throws {
        state.change { $0.changes = 1 }
        let service = service()
        let old = HTTPResponse(.ok, headers: [.eTag: "\"old\""], to: Self.request)
        let settings = RequestSettings { $0.idempotencyKey = "k" }.ifUnchanged(since: old)
        try await service.update(ItemEndpoint.fetch, with: settings) { (item: Item) in ItemEndpoint.replace(item) }
        #expect(stub.requests.map { $0.headers[.ifMatch] } == [nil, "\"v1\"", nil, "\"v2\""])
        #expect(stub.requests.allSatisfy { $0.headers[.idempotencyKey] == nil })
    }

    @Test("The cache is not read, so that a stored value never overwrites a newer one")
    func cache() async throws {
        let service = service { $0.cache = ResponseCache(clock: Fixture.stillClock) }
        let state = state
        stub.on(.get, "/v1/item") { _ in
            StubResponse(
                .ok,
                headers: [
                    .contentType: "application/json", .eTag: "\"v\(state.value.version)\"",
                    .cacheControl: "max-age=600",
                ],
                body: try JSONEncoder().encode(Item(count: state.value.count)))
        }
        _ = try await service.request(ItemEndpoint.fetch) as Item
        state.change { ($0.version, $0.count) = (2, 20) }
        try await addOne(service)
        #expect(state.value.count == 21)
    }

    @Test("An error of the change, and every other error of a write, ends the update")
    func otherErrors() async throws {
        let service = service()
        await #expect(throws: UserError.taken) {
            try await service.update(ItemEndpoint.fetch) { (_: Item) -> ItemEndpoint in throw UserError.taken }
        }
        stub.on(.put, "/v1/item", .status(.forbidden))
        #expect(await Fixture.failure { try await addOne(service) } as? GeneralRequestError == .forbidden)
        #expect(stub.requests.filter { $0.method == .put }.count == 1)
    }

    @Test("After another user has logged in, the write is not sent with the new user's token")
    func otherUser() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("alice"), clock: Fixture.stillClock) { _ in
            throw AccessToken.Rejected()
        }
        let service = service(session: session)
        let error = await Fixture.failure {
            try await service.update(ItemEndpoint.fetch) { (item: Item) in
                session.accessToken = AccessToken("bob")
                return ItemEndpoint.replace(item)
            }
        }
        #expect(error as? GeneralRequestError == .noAuth)
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer alice"])
    }
}
