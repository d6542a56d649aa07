import Foundation
@testable import Networking
import NetworkingTesting
import Testing

@Suite("Mapping of errors", .endsInTime)
struct ErrorMappingTests {
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

    @Test("The error mapping runs last, receives the failure, and also maps an error that a handler returned")
    func lastWord() async {
        let mapping = NetworkConfiguration.ErrorMapping { error, failure in
            Shown(error: "\(error)", status: failure.status)
        }
        let failing = ErrorHandlingService([AdHocErrorHandler { _ in .fail(UserError.cloudy) }])
        #expect(
            await error(.status(.notFound), mapping: mapping) as? Shown
                == Shown(error: "notFound: GET api.example.com/v1/open: 404 Not Found", status: .notFound))
        #expect(
            await error(.status(.conflict), mapping: mapping) as? Shown == Shown(error: "taken", status: .conflict))
        #expect(
            await error(.status(.badGateway), .open, failing, mapping: mapping) as? Shown
                == Shown(error: "cloudy", status: .badGateway))
    }

    @Test("The error mapping runs once for each call, even if the call is cancelled while a handler runs")
    func mappedOnce() async throws {
        let (count, isLooking) = (Box(0), Settlement<Void>())
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .down }
            $0.errorHandlingService = ErrorHandlingService([
                AdHocErrorHandler { failure in
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

    private struct Shown: Error, Equatable {
        let error: String
        let status: HTTPStatus?
    }

    @Test(
        "401, 403 and 404 give general errors; a status without a mapping gives a network error", .row("R-23", "R-24"))
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

    @Test(
        "The endpoint's errors take precedence for every status, even an unregistered status, and for URL error codes",
        .row("R-25"))
    func endpointFirst() async {
        #expect(await error(.status(.conflict)) as? UserError == .taken)
        #expect(await error(.status(520)) as? UserError == .cloudy)
        #expect(await error(.failure(.cannotResolveHost)) as? UserError == .noHost)
    }

    @Test("A status is mapped even if the body of the response cannot be decoded")
    func statusWins() async {
        let answer = StubResponse(.conflict, headers: [.contentType: "application/json"], body: Data("<html>".utf8))
        #expect(await error(answer) as? UserError == .taken)
    }

    @Test("Every failure in the list of the library pkrll/Network has a kind", .row("P-11"))
    func kindsOfOthers() {
        let table: [(URLError.Code, NetworkError.Kind)] = [
            (.dataLengthExceedsMaximum, .responseTooLarge), (.cannotConnectToHost, .cannotConnect),
            (.cancelled, .cancelled), (.secureConnectionFailed, .tlsFailed), (.badURL, .invalidRequest),
            (.badServerResponse, .malformedResponse), (.notConnectedToInternet, .notConnected),
            (.timedOut, .idleTimedOut),
        ]
        for (code, kind) in table {
            #expect(NetworkError.wrapping(URLError(code)).kind == kind)
            #expect(kind.urlErrorCode == code)
        }
        #expect(NetworkError.Kind.resetting.description == "resetting")
        #expect(NetworkError.Kind("mine").description == "mine")
    }

    @Test("The description of a failure contains path and method", .row("R-27"))
    func description() {
        guard let url = URL(string: "https://api.example.com/users/7?token=hush") else { return }
        let request = HTTPRequest(.get, url)
        let failure = RequestFailure(
            endpoint: UserEndpoint.open, request: request, response: HTTPResponse(.notFound, to: request),
            error: NetworkError(.unacceptableStatus))
        #expect(failure.description == "<RequestFailure> from `/users/7` [GET]: 404 Not Found")
    }

    @Test("An error of an unknown type is described by its type, without paths and secrets")
    func foreignErrors() {
        struct Leaky: Error { let token = "s3cret" }
        let error = NetworkError.wrapping(Leaky())
        #expect(!"\(error)".contains("s3cret"))
        #expect(error.underlying is Leaky)
    }
}
