import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Tests refusals that the app recognises by the body of a response (rule 13).
@Suite("Refusals in bodies", .endsInTime)
struct RefusalInBodyTests {
    private let refreshes = Box(0)
    private let asked = Box(0)

    private func session(_ text: String) -> AccessTokenSupervisor {
        AccessTokenSupervisor(
            token: AccessToken("old"),
            refuses: { [asked] response in
                asked.change { $0 += 1 }
                return String(decoding: response.data, as: UTF8.self).contains(text)
            }, clock: Fixture.stillClock
        ) { [refreshes] _ in
            refreshes.change { $0 += 1 }
            return AccessToken("new")
        }
    }

    private func service(
        _ session: AccessTokenSupervisor, _ transport: any Transport,
        _ configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = transport
            configure(&$0)
        }
    }

    private let refusal = #"{"errors":[{"extensions":{"code":"UNAUTHENTICATED"}}]}"#

    /// Answers 200 to every request; without the new token, with a refusal in the body.
    private func graphQL(_ headers: HTTPHeaders = [:]) -> StubTransport {
        StubTransport { [refusal] request in
            let isNew = request.headers[.authorization] == "Bearer new"
            return StubResponse(.ok, headers: headers, body: Data((isNew ? #"{"data":1}"# : refusal).utf8))
        }
    }

    @Test("A GraphQL server that refuses inside a 200: the call is refreshed and repeated, and each body is asked once")
    func graphQLRefusal() async throws {
        let text = try await service(session("UNAUTHENTICATED"), graphQL())
            .request(UserEndpoint.fetch(id: "7"), as: .string)
        #expect(text == #"{"data":1}"#)
        #expect(refreshes.value == 1 && asked.value == 2)
    }

    @Test("Of 1,000 calls, exactly the limit is refused inside a 200, and one refresh runs")
    func thousand() async throws {
        let arrived = Box(0)
        let release = Settlement<Void>()
        let server = StubTransport { [refusal] request in
            guard request.headers[.authorization] != "Bearer new" else { return .status(.ok) }
            arrived.change { $0 += 1 }
            try await release.value()
            return StubResponse(.ok, body: Data(refusal.utf8))
        }
        let service = service(session("UNAUTHENTICATED"), server) { $0.concurrencyLimit = ConcurrencyLimit(64) }
        async let calls: Void = withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<1_000 { group.addTask { try await service.request(UserEndpoint.fetch(id: "7")) } }
            try await group.waitForAll()
        }
        while arrived.value < 64 { await Task.yield() }
        release.settle(.success(()))
        try await calls
        #expect(arrived.value == 64 && refreshes.value == 1)
    }

    @Test("A refusal without a possible refresh is a failure before validators and converters")
    func failure() async {
        let session = AccessTokenSupervisor(
            token: AccessToken("old"), refuses: { $0.status == .ok }, clock: Fixture.stillClock
        ) { _ in throw AccessToken.Rejected() }
        let service = service(session, graphQL()) { $0.settings.validators = [] }
        let error = await Fixture.failure { _ = try await service.request(UserEndpoint.fetch(id: "7"), as: .string) }
        #expect(error as? GeneralRequestError == .noAuth)
    }

    @Test("A coded 400 refuses the token; other 400s start no refresh")
    func codedBadRequest() async throws {
        let server = StubTransport { request in
            if request.method == .patch { return StubResponse(.badRequest, body: Data(#"{"code":"VALIDATION"}"#.utf8)) }
            let isNew = request.headers[.authorization] == "Bearer new"
            return isNew ? .status(.ok) : StubResponse(.badRequest, body: Data(#"{"code":"ERR003"}"#.utf8))
        }
        let service = service(session("ERR003"), server)
        for _ in 0..<3 {
            _ = await Fixture.failure { try await service.request(UserEndpoint.rename(id: "7", to: "x")) }
        }
        #expect(refreshes.value == 0 && server.requests.count == 3)
        try await service.request(UserEndpoint.fetch(id: "7"))
        #expect(refreshes.value == 1)
    }

    @Test(
        "A refusal inside a 200 that may be stored is not stored, and a stored response is not asked",
        arguments: [true, false])
    func notStored(onDisk: Bool) async throws {
        let folder = try TemporaryFolder()
        let cache = onDisk ? try ResponseCache(directory: folder.url) : ResponseCache()
        let server = graphQL(["Cache-Control": "max-age=60"])
        let session = session("UNAUTHENTICATED")
        let service = service(session, server) { $0.cache = cache }
        let first = try await service.request(UserEndpoint.fetch(id: "7"), as: .string)
        #expect(first == #"{"data":1}"# && server.requests.count == 2)
        let second = try await service.request(UserEndpoint.fetch(id: "7"), as: .string)
        #expect(second == first && server.requests.count == 2)
        #expect(asked.value == 2)
    }

    @Test("A refusal is not given to joined calls as a success")
    func joined() async throws {
        let arrived = Box(0)
        let release = Settlement<Void>()
        let server = StubTransport { [refusal] request in
            guard request.headers[.authorization] != "Bearer new" else { return .status(.ok) }
            arrived.change { $0 += 1 }
            try await release.value()
            return StubResponse(.ok, body: Data(refusal.utf8))
        }
        let service = service(session("UNAUTHENTICATED"), server) { $0.duplicates = .always(.join) }
        let first = service.task(UserEndpoint.fetch(id: "7"), as: .string)
        let second = service.task(UserEndpoint.fetch(id: "7"), as: .string)
        while arrived.value < 1 { await Task.yield() }
        release.settle(.success(()))
        #expect(try await [first.value, second.value] == ["", ""])
        #expect(refreshes.value == 1)
    }

    @Test("A response to a call without a token is not asked")
    func withoutToken() async throws {
        let service = service(session("UNAUTHENTICATED"), graphQL())
        _ = try await service.request(UserEndpoint.open, as: .string)
        #expect(asked.value == 0 && refreshes.value == 0)
    }

    @Test("The error of a refusal inside a 200 names the body, and a refused 400 means the same as a refused 401")
    func texts() async throws {
        for status in [HTTPStatus.ok, .badRequest] {
            let session = AccessTokenSupervisor(
                token: AccessToken("old"), refuses: { $0.data == Data("no".utf8) }, clock: Fixture.stillClock
            ) { _ in throw AccessToken.Rejected() }
            let service = service(session, StubTransport { _ in .text("no", status: status) })
            let error = await Fixture.failure { _ = try await service.request(UserEndpoint.fetch(id: "7"), as: .data) }
            #expect(error as? GeneralRequestError == .noAuth)
            let attempt = (error as? GeneralRequestError)?.cause?.report?.attempts.first
            let cause = try #require(attempt?.error as? NetworkError)
            #expect(cause.reason == "\(status), whose body refuses the token")
        }
    }

    @Test("A body that is too large or cut off is not asked, and its status decides")
    func incomplete() async throws {
        for kind in [NetworkError.Kind.truncatedBody, .responseTooLarge] {
            for status in [HTTPStatus.ok, .notFound] {
                let server = StubTransport { request in
                    let part = HTTPResponse(status, content: .data(Data("part".utf8)), to: request)
                    var response = part
                    response.cutOff = "test"
                    return .failure(NetworkError(kind, response: response))
                }
                let service = service(session("part"), server) { $0.retry = nil }
                _ = await Fixture.failure { _ = try await service.request(UserEndpoint.fetch(id: "7"), as: .data) }
            }
        }
        let large = service(session("x"), StubTransport { _ in .text(String(repeating: "x", count: 64)) }) {
            $0.settings.maximumResponseSize = 16
        }
        let error = await Fixture.failure { _ = try await large.request(UserEndpoint.fetch(id: "7"), as: .data) }
        #expect((error as? NetworkError)?.kind == .responseTooLarge)
        #expect(asked.value == 0 && refreshes.value == 0)
    }

    @Test("A stored response does not replace a 500 whose body refuses the token")
    func staleIfError() async throws {
        let clock = ManualClock()
        let server = StubTransport { [refusal] request in
            let isNew = request.headers[.authorization] == "Bearer new"
            let isFirst = !request.headers.contains(.ifNoneMatch) && !isNew
            guard !isNew, !isFirst else {
                return .text(
                    isNew ? "new" : "old", headers: [.cacheControl: "max-age=1, stale-if-error=600", .eTag: "\"1\""])
            }
            return StubResponse(.internalServerError, body: Data(refusal.utf8))
        }
        let service = service(session("UNAUTHENTICATED"), server) {
            $0.cache = ResponseCache(clock: clock.networkClock)
            $0.clock = clock.networkClock
        }
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "old")
        clock.advance(by: .seconds(5))
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "new")
        #expect(refreshes.value == 1)
    }

    @Test("An observer of duplicates gets a refusal inside a 200 as a failure")
    func observer() async throws {
        let arrived = Settlement<Void>()
        let release = Settlement<Void>()
        let seen = Settlement<HTTPResponse>()
        let server = StubTransport { [refusal] request in
            arrived.settle(.success(()))
            try await release.value()
            return StubResponse(.ok, body: Data(refusal.utf8))
        }
        let service = service(session("UNAUTHENTICATED"), server) {
            $0.duplicates = .always(.share(notifying: { seen.settle($0) }))
        }
        let first = service.task(UserEndpoint.fetch(id: "7"), as: .string)
        try await arrived.value()
        let second = service.task(UserEndpoint.fetch(id: "7"), as: .string)
        for task in [first, second] { _ = await Fixture.failure { _ = try await task.value } }
        release.settle(.success(()))
        let error = await Fixture.failure { _ = try await seen.value() }
        #expect((error as? NetworkError)?.kind == .unacceptableStatus)
        #expect((error as? NetworkError)?.status == .ok)
    }

    @Test("A fixed token may be refused by a body, too: the call ends with noAuth, and the session goes on")
    func fixed() async throws {
        let session = AccessTokenSupervisor(fixed: "key", refuses: { $0.data == Data("no".utf8) })
        let service = service(session, StubTransport { _ in .text("no") })
        for _ in 0..<2 {
            let error = await Fixture.failure { _ = try await service.request(UserEndpoint.fetch(id: "7"), as: .data) }
            #expect(error as? GeneralRequestError == .noAuth)
        }
        #expect(session.accessToken?.value == "key")
    }
}
