import Foundation
@testable import Networking
import NetworkingTesting
import Testing

@Suite("Error handlers")
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

    @Test("R-21: handlers run in order; each gets the error of the previous one and the original response")
    func order() async {
        let seen = Box<[String]>([])
        func handler(_ name: String, _ result: @escaping @Sendable (RequestFailure) -> ErrorHandlingResult)
            -> any ErrorHandler
        {
            ClosureErrorHandler { failure in
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

    @Test("R-22: every service maps errors after the app's handlers, unless its error mapping is `unmapped`")
    func defaults() async {
        #expect(await error(.status(.notFound)) as? GeneralRequestError == .notFound)
        let own = ErrorHandlingService([ClosureErrorHandler { .next($0.error) }])
        #expect(await error(.status(.notFound), .open, own) as? GeneralRequestError == .notFound)
        #expect(await error(.status(.conflict), .open, own) as? UserError == .taken)
        #expect((await error(.status(.notFound), mapping: .unmapped) as? NetworkError)?.status == .notFound)
        #expect((await error(.status(.conflict), mapping: .unmapped) as? NetworkError)?.status == .conflict)
    }

    @Test("A general error keeps its cause, contains method, URL and status, and can be caught by its code")
    func generalCause() async throws {
        let caught = await error(.status(.notFound))
        let general = try #require(caught as? GeneralRequestError)
        #expect(general == .notFound && general.code == .notFound && general.cause?.status == .notFound)
        #expect("\(general)" == "notFound: GET api.example.com/v1/open: 404 Not Found")
        #expect(general.cause?.report?.attempts.count == 1)
        do { throw general } catch GeneralRequestError.notFound {} catch { #expect(Bool(false), "\(error)") }
        switch caught {
        case GeneralRequestError.forbidden?: #expect(Bool(false), "it is not forbidden")
        default: break
        }
        let lost = try #require(await error(.failure(.cannotConnect)) as? GeneralRequestError)
        #expect("\(lost)" == "cannotConnect: GET api.example.com/v1/open: the host refuses the connection")
        let bridged = lost as NSError
        #expect((bridged.userInfo[NSUnderlyingErrorKey] as? NSError)?.domain == "Networking.NetworkError")
        #expect(bridged.userInfo[NSURLErrorFailingURLErrorKey] != nil)
    }

    @Test(
        "The error of a 401 without a token says why there was no token",
        arguments: [
            ("none", "the authorizationType of endpoint and service is none"),
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

    @Test("The error of a 401 gives the right reason for refreshes, listed origins and URLs with a user")
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
                + "it went to another origin than the environment's")
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
        #expect(refreshing.value == words + "the requests of a token refresh carry none")
    }

    @Test("A typed server error has the call's report; a CancellationError becomes a cancelled error with a cause")
    func causes() async throws {
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .json(text: #"{"id":"taken"}"#, status: .conflict) }
        }
        let failure =
            await Fixture.failure {
                try await service.request(.post("users").failing(as: User.self))
            } as? ServerFailure<User>
        #expect(failure?.serverError == User(id: "taken"))
        #expect(failure?.networkError.report?.attempts.count == 1)
        let cancelling = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in throw CancellationError() }
        }
        let cancelled = await Fixture.failure { try await cancelling.request(.get("a")) } as? GeneralRequestError
        #expect(cancelled == .cancelled && cancelled?.cause?.request?.url.path == "/v1/a")
    }

    @Test("The error mapping runs last, also for an error that a handler ends a call with, and gets the failure")
    func lastWord() async {
        let mapping = NetworkConfiguration.ErrorMapping { error, failure in
            Shown(error: "\(error)", status: failure.status)
        }
        let failing = ErrorHandlingService([ClosureErrorHandler { _ in .fail(UserError.cloudy) }])
        #expect(
            await error(.status(.notFound), mapping: mapping) as? Shown
                == Shown(error: "notFound: GET api.example.com/v1/open: 404 Not Found", status: .notFound))
        #expect(
            await error(.status(.conflict), mapping: mapping) as? Shown == Shown(error: "taken", status: .conflict))
        #expect(
            await error(.status(.badGateway), .open, failing, mapping: mapping) as? Shown
                == Shown(error: "cloudy", status: .badGateway))
    }

    @Test("The error mapping runs once for each call, also if the call is cancelled while a handler runs")
    func mappedOnce() async throws {
        let (count, isLooking) = (Box(0), Settlement<Void>())
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .down }
            $0.errorHandlingService = ErrorHandlingService([
                ClosureErrorHandler { failure in
                    isLooking.settle(.success(()))
                    while !Task.isCancelled, failure.networkError?.kind != .cancelled { await Task.yield() }
                    return .next(failure.error)
                }
            ])
            $0.errorMapping = .init { error, _ in
                count.change { $0 += 1 }
                return error
            }
        }
        let task = service.task(.get("x"), as: .void)
        try await isLooking.value()
        task.cancel()
        #expect(await Fixture.failure { try await task.value } as? GeneralRequestError == .cancelled)
        #expect(count.value == 1)
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

    private struct Shown: Error, Equatable {
        let error: String
        let status: HTTPStatus?
    }

    @Test("R-23, R-24: 401, 403 and 404 have general errors; a status without a mapping stays a network error")
    func statuses() async {
        #expect(await error(.status(.unauthorized)) as? GeneralRequestError == .noAuth)
        #expect(await error(.status(.forbidden)) as? GeneralRequestError == .forbidden)
        #expect(await error(.status(.notFound)) as? GeneralRequestError == .notFound)
        #expect((await error(.status(.badGateway)) as? NetworkError)?.status == .badGateway)
    }

    @Test(
        "Transport failures are mapped: no connection, timeouts, cancellation",
        arguments: [
            (NetworkError.Kind.notConnected, GeneralRequestError.noInternetConnection), (.idleTimedOut, .timedOut),
            (.cannotConnect, .cannotConnect),
            (.connectTimedOut, .timedOut), (.deadlineTimedOut, .timedOut), (.cancelled, .cancelled),
        ])
    func kinds(kind: NetworkError.Kind, mapped: GeneralRequestError) async {
        #expect(await error(.failure(kind)) as? GeneralRequestError == mapped)
    }

    @Test(
        "URLSession errors are also mapped if a custom transport throws them",
        arguments: [
            (URLError.Code.notConnectedToInternet, GeneralRequestError.noInternetConnection), (.timedOut, .timedOut),
            (.cancelled, .cancelled),
        ])
    func urlErrors(code: URLError.Code, mapped: GeneralRequestError) async {
        #expect(await error(.failure(URLError(code))) as? GeneralRequestError == mapped)
    }

    @Test("R-25: the endpoint's errors come first, for statuses, also unregistered ones, and for URL error codes")
    func endpointFirst() async {
        #expect(await error(.status(.conflict)) as? UserError == .taken)
        #expect(await error(.status(520)) as? UserError == .cloudy)
        #expect(await error(.failure(.cannotResolveHost)) as? UserError == .noHost)
    }

    @Test("The status is known even if the body of the error cannot be read")
    func statusWins() async {
        let answer = StubResponse(.conflict, headers: [.contentType: "application/json"], body: Data("<html>".utf8))
        #expect(await error(answer) as? UserError == .taken)
    }

    @Test("P-11: every failure in pkrll/Network's list has a kind")
    func kindsOfOthers() {
        let table: [(URLError.Code, NetworkError.Kind)] = [
            (.dataLengthExceedsMaximum, .responseTooLarge), (.cannotConnectToHost, .cannotConnect),
            (.cancelled, .cancelled), (.secureConnectionFailed, .tlsFailed), (.badURL, .invalidRequest),
            (.badServerResponse, .malformedResponse), (.notConnectedToInternet, .notConnected),
            (.timedOut, .idleTimedOut),
        ]
        for (code, kind) in table {
            let error = NetworkError(.unknown, underlying: URLError(code))
            #expect(error.kind == .unknown)
            #expect(kind.urlErrorCode != nil)
        }
        #expect(NetworkError.Kind.resetting.description == "resetting")
        #expect(NetworkError.Kind("mine").description == "mine")
    }

    @Test("R-27: the description of a failure contains path and method")
    func description() {
        guard let url = URL(string: "https://api.example.com/users/7?token=hush") else { return }
        let request = HTTPRequest(.get, url)
        let failure = RequestFailure(
            endpoint: UserEndpoint.open, request: request, response: HTTPResponse(.notFound, to: request),
            error: NetworkError(.unacceptableStatus))
        #expect(failure.description == "<RequestFailure> from `/users/7` [GET]: 404 Not Found")
    }

    @Test("A handler that is listed twice runs twice and does not loop")
    func twice() async {
        let count = Box(0)
        let handler = ClosureErrorHandler { failure in
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
        let handler = ClosureErrorHandler { failure in
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

    @Test("A changed request replaces the original one, and adapters run on it again")
    func changedRequest() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .status(.badGateway), .text("hello"))
        let handler = ClosureErrorHandler { failure in
            guard var request = failure.originalRequest else { return .next(failure.error) }
            request.headers["X-Changed"] = "yes"
            return .retry(with: request)
        }
        let runs = Box(0)
        let adapter = ClosureAdapter { request, _ in
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
}
