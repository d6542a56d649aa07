import Foundation
@testable import Networking
import NetworkingTesting
import Testing

@Suite("Error handlers", .endsInTime)
struct ErrorHandlingTests {
    private func error(
        _ answer: StubResponse, _ endpoint: UserEndpoint = .open,
        _ handling: ErrorHandlingService = ErrorHandlingService(),
        mapping: NetworkConfiguration.ErrorMapping = .general
    ) async -> (any Error)? {
        let service = UserService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in answer }
            $0.errorHandlingService = handling
            $0.errorMapping = mapping
        }
        return await Fixture.failure { try await service.request(endpoint) }
    }

    @Test(
        "Handlers run in order; each handler gets the error of the previous handler and the original response",
        .row("R-21"))
    func order() async {
        let seen = Box<[String]>([])
        func handler(_ name: String, _ result: @escaping @Sendable (RequestFailure) -> ErrorHandlingResult)
            -> any ErrorHandler
        {
            AdHocErrorHandler { failure in
                seen.change { $0.append("\(name) \(failure.status?.code ?? 0) \(type(of: failure.error))") }
                return result(failure)
            }
        }
        let handling = ErrorHandlingService([
            handler("first") { _ in .next(UserError.taken) }, handler("second") { .next($0.error) },
            handler("third") { _ in .fail(UserError.cloudy) }, handler("fourth") { .next($0.error) },
        ])
        #expect(await error(.status(.badGateway), .open, handling) as? UserError == .cloudy)
        #expect(seen.value == ["first 502 NetworkError", "second 502 UserError", "third 502 UserError"])
    }

    @Test("Every service maps errors after the app's handlers, unless its error mapping is `unmapped`", .row("R-22"))
    func defaults() async {
        #expect(await error(.status(.notFound)) as? GeneralRequestError == .notFound)
        let own = ErrorHandlingService([AdHocErrorHandler { .next($0.error) }])
        #expect(await error(.status(.notFound), .open, own) as? GeneralRequestError == .notFound)
        #expect(await error(.status(.conflict), .open, own) as? UserError == .taken)
        #expect((await error(.status(.notFound), mapping: .unmapped) as? NetworkError)?.status == .notFound)
        #expect((await error(.status(.conflict), mapping: .unmapped) as? NetworkError)?.status == .conflict)
    }

    @Test(
        "The error of a 401 without a token says why there was no token",
        arguments: [
            ("none", "the authorizationType of the endpoint and the service is none"),
            ("no session", "the service has no session (authorizedBy:)"), ("no token", "the session has no token"),
        ])
    func withoutToken(situation: String, reason: String) async throws {
        let session = AccessTokenSupervisor(token: nil, clock: Fixture.stillClock) { _ in throw AccessToken.Rejected() }
        session.accessToken = nil
        let service = UserService(
            environment: Fixture.environment, authorizedBy: situation == "no session" ? nil : session
        ) { $0.transport = StubTransport { _ in .status(.unauthorized) } }
        let endpoint: UserEndpoint = situation == "none" ? .open : .fetch(id: "7")
        let error = await Fixture.failure { try await service.request(endpoint) } as? GeneralRequestError
        #expect(error == .noAuth)
        #expect(error?.cause?.reason == "401 Unauthorized, sent without a token: \(reason)")
    }

    @Test("A 401 to a refresh or from another origin says why no token was sent, unless the URL contains a user")
    func withoutTokenElsewhere() async throws {
        let environment = Fixture.environment
        func reason(_ session: AccessTokenSupervisor, _ url: String) async -> String? {
            let service = NetworkService(environment: environment, authorizedBy: session) {
                $0.transport = StubTransport { _ in .status(.unauthorized) }
                $0.settings.authorizationType = .bearer
                $0.errorMapping = .unmapped
            }
            return
                (await Fixture.failure { try await service.request(AdHocEndpoint(.get, url: url)) } as? NetworkError)?
                .reason
        }
        let cdn = try #require(URL(string: "https://cdn.example.com").flatMap { HTTPOrigin($0) })
        let session = AccessTokenSupervisor(token: nil, origins: [cdn], clock: Fixture.stillClock) { _ in
            throw AccessToken.Rejected()
        }
        session.accessToken = nil
        let words = "401 Unauthorized, sent without a token: "
        #expect(await reason(session, "https://cdn.example.com/a") == words + "the session has no token")
        #expect(
            await reason(session, "https://other.example.com/a") == words
                + "the request went to another origin than that of the environment")
        #expect(await reason(session, "https://user:secret@api.example.com/a") == nil)

        let refreshing = Box<String?>(nil)
        let refreshed = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            let service = NetworkService(environment: environment, authorizedBy: session) {
                $0.transport = StubTransport { _ in .status(.unauthorized) }
                $0.errorMapping = .unmapped
            }
            let error =
                await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) } as? NetworkError
            refreshing.change { $0 = error?.reason }
            throw AccessToken.Rejected()
        }
        _ = await reason(refreshed, "https://api.example.com/v1/a")
        #expect(refreshing.value == words + "the requests of a token refresh carry no token")
    }

    @Test("The network error that the mapping gets contains the number of attempts")
    func attempts() async {
        struct Shown: Error, Equatable {
            let attempts: Int?
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .down }
            $0.retry = RetryPolicy(retries: 2)
            $0.errorMapping = .init { error, _ in Shown(attempts: (error as? NetworkError)?.attempts) }
        }
        #expect(await Fixture.failure { try await service.request(.get("x")) } as? Shown == Shown(attempts: 3))
    }

    @Test("A handler that is listed twice runs twice and does not loop")
    func twice() async {
        let count = Box(0)
        let handler = AdHocErrorHandler { failure in
            count.change { $0 += 1 }
            return .next(failure.error)
        }
        #expect(await error(.status(.gone), .open, ErrorHandlingService([handler, handler])) is NetworkError)
        #expect(count.value == 2)
    }

    @Test("A failure contains the earlier failed attempts and the request as it was sent")
    func history() async throws {
        let failures = Box<[RequestFailure]>([])
        let stub = StubTransport()
        stub.on(nil, nil, .status(.badGateway), .status(.gone), .text("hello"))
        let handler = AdHocErrorHandler { failure in
            failures.change { $0.append(failure) }
            return .retry()
        }
        let service = UserService(environment: Fixture.environment) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([HeadersAdapter(["X-A": "1"])])
            $0.errorHandlingService = ErrorHandlingService([handler])
        }
        #expect(try await service.request(UserEndpoint.open, as: .string) == "hello")
        #expect(failures.value.map(\.attempt) == [1, 2])
        #expect(failures.value.last?.history.map(\.response?.status) == [.badGateway])
        #expect(failures.value.last?.request?.headers["X-A"] == "1")
        #expect(failures.value.last?.originalRequest?.headers["X-A"] == nil)
    }

    @Test("A changed request replaces the original request, and the adapters run again on the changed request")
    func changedRequest() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .status(.badGateway), .text("hello"))
        let handler = AdHocErrorHandler { failure in
            guard var request = failure.originalRequest else { return .next(failure.error) }
            request.headers["X-Changed"] = "yes"
            return .retry(with: request)
        }
        let runs = Box(0)
        let adapter = AdHocAdapter { request, _ in
            runs.change { $0 += 1 }
            request.headers["X-Run"] = "\(runs.value)"
        }
        let service = UserService(environment: Fixture.environment) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([adapter])
            $0.errorHandlingService = ErrorHandlingService([handler])
        }
        try await service.request(UserEndpoint.open)
        #expect(stub.requests.map { $0.headers["X-Changed"] } == [nil, "yes"])
        #expect(stub.requests.map { $0.headers["X-Run"] } == ["1", "2"])
    }

    private let clock = ManualClock()

    @Test("Handlers get the status of a response whose body was lost")
    func lostBody() async throws {
        let seen = Box<[HTTPStatus?]>([])
        let watch = AdHocErrorHandler { failure in
            seen.change { $0.append(failure.status) }
            return .next(failure.error)
        }
        let transport = LostBody()
        struct LostBody: Transport {
            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                throw NetworkError(
                    .connectionLostAfterHead, request: request,
                    response: HTTPResponse(.serviceUnavailable, headers: [.retryAfter: "7"], to: request))
            }
        }
        let observer = RecordingObserver()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.errorHandlingService = ErrorHandlingService([watch])
            $0.observers = [observer]
        }
        _ = await Fixture.failure { try await service.request(UserEndpoint.open) }
        #expect(seen.value == [.serviceUnavailable])
        #expect(observer.reports.first?.status == .serviceUnavailable)
    }

    @Test("An error page above the size limit keeps its status: a 401 starts a refresh, a 404 becomes `notFound`")
    func largeErrorPage() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            AccessToken("new")
        }
        let page = Data(repeating: 0x20, count: 5_000)
        let stub = StubTransport { request in
            guard request.headers[.authorization] == "Bearer new" else {
                return StubResponse(.unauthorized, body: page)
            }
            return request.url.path.hasSuffix("missing") ? StubResponse(.notFound, body: page) : .text("ok")
        }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.settings = RequestSettings { $0.maximumResponseSize = 1_000 }
        }
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
        let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "missing")) }
        #expect(error as? GeneralRequestError == .notFound)
        let large = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in StubResponse(.ok, body: page) }
            $0.settings = RequestSettings { $0.maximumResponseSize = 1_000 }
        }
        let tooLarge = await Fixture.failure { try await large.request(UserEndpoint.open) } as? NetworkError
        #expect(tooLarge?.kind == .responseTooLarge)
        #expect(tooLarge?.response?.data.isEmpty == true, "the data of a large response is dropped")
        let lenient = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in StubResponse(.notFound, body: page) }
        }
        for size in [1_000, 0, -1] {
            let settings = RequestSettings {
                $0.validators = []
                $0.maximumResponseSize = size
            }
            let cut = await Fixture.failure { _ = try await lenient.request(.get("x"), as: .data, with: settings) }
            #expect((cut as? NetworkError)?.kind == .responseTooLarge, "a response is not truncated")
        }
    }
}
