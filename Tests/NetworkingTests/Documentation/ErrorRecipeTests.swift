// Runs the Swift blocks of Recipes.md and ErrorsAndRetries.md on errors and retries, unchanged.
// `DocumentationTests` compares them with the articles.

import Foundation
import Networking
import NetworkingTesting
import Testing

// snippet.ownErrors
enum AppError: Error {
    case offline
    case unauthorized
    case maintenance
    case cancelled
    case server(message: String)
    case unknown(any Error)
}

func makeServiceWithOwnErrors(
    _ api: NetworkEnvironment, _ transport: any Transport
) -> NetworkService {
    NetworkService(environment: api) {
        $0.transport = transport
        $0.retry = .standard  // sees the error before it is mapped
        $0.errorMapping = .init { error, failure in
            // `error` is from the endpoint, a handler or the general mapping.
            switch error {
            case GeneralRequestError.noInternetConnection,
                GeneralRequestError.cannotConnect:
                AppError.offline
            // The session may continue, for example if the refresh could not
            // reach its server. Only the event `sessionOver` requires a log-in.
            case GeneralRequestError.noAuth: AppError.unauthorized
            case let error as NetworkError where error.kind == .noToken:
                AppError.unauthorized  // the request was not sent
            // Cancelled calls are mapped, too.
            case GeneralRequestError.cancelled: AppError.cancelled
            case let problem as ServerFailure<ProblemDetails>:
                AppError.server(message: problem.serverError.title ?? "")
            case _ where failure.status == .serviceUnavailable:
                AppError.maintenance
            default: AppError.unknown(error)
            }
        }
    }
}
// snippet.end

// snippet.retryLevels
struct ReportEndpoint: Endpoint {
    let path: EndpointPath = "report"
    var settings: RequestSettings {
        // The retry policy of this endpoint.
        RequestSettings { $0.retry = RetryPolicy(retries: 5) }
    }
}

func retries(_ api: NetworkEnvironment, _ transport: any Transport) async {
    let service = NetworkService(environment: api) {
        $0.transport = transport
        // Every call: two retries, after up to 200 and 400 ms.
        $0.retry = .standard
    }
    _ = try? await service.request(ReportEndpoint(), as: .string)
    let once = RequestSettings { $0.retry = RetryPolicy(retries: 1) }
    // One retry for this call.
    _ = try? await service.request(.get("news"), as: .string, with: once)
    _ = try? await service.request(
        .get("ping").settings { $0.retry = .never }, as: .string)  // no retry
}
// snippet.end

@Suite("Recipes for errors and retries", .endsInTime)
struct ErrorRecipeTests {
    private var api: NetworkEnvironment { Fixture.environment }

    @Test("The app's own errors are created last, even for cancelled calls")
    func ownErrors() async throws {
        func error(_ answer: StubResponse) async -> AppError? {
            let clock = ManualClock()
            let client = makeServiceWithOwnErrors(api, StubTransport { _ in answer }).client
                .with { $0.clock = clock.networkClock }
            let task = NetworkService(client: client).task(.get("a").failing(as: ProblemDetails.self), as: .string)
            try? await clock.advance(by: .seconds(1), until: { task.result != nil })
            return await Fixture.failure { _ = try await task.value } as? AppError
        }
        guard case .offline = await error(.failure(.notConnected)) else { return #expect(Bool(false), "not offline") }
        guard case .maintenance = await error(.status(.serviceUnavailable)) else {
            return #expect(Bool(false), "no maintenance")
        }
        guard case .cancelled = await error(.failure(.cancelled)) else { return #expect(Bool(false), "not cancelled") }
        let problem = StubResponse(
            .conflict, headers: [.contentType: "application/problem+json"], body: Data(#"{"title":"taken"}"#.utf8))
        guard case .server("taken") = await error(problem) else { return #expect(Bool(false), "not a server error") }
        guard case .unknown = await error(.status(.conflict)) else { return #expect(Bool(false), "not unknown") }
    }

    @Test("Retries can be set for a service, an endpoint or a call, and can be turned off")
    func retryLevels() async {
        let stub = StubTransport { _ in .failure(.connectionLostBeforeHead) }
        await retries(api, stub)
        let counts = ["report", "news", "ping"].map { name in
            stub.requests.count { $0.url.lastPathComponent == name }
        }
        #expect(counts == [6, 2, 1])
    }

    @Test("A retry is tested without waiting")
    func testRetry() async throws {
        // snippet.testRetry
        let (clock, stub) = (ManualClock(), StubTransport())
        stub.on(
            .get, "/v1/users/7", .status(.serviceUnavailable), .json(["name": "Ada"]))
        let service = NetworkService(environment: api) {
            $0.transport = stub
            $0.clock = clock.networkClock
            $0.retry = RetryPolicy(retries: 1, backoff: .constant(.seconds(30)))
        }

        let task = service.task(.get("users/7"), as: .json([String: String].self))
        // The clock advances to the end of the next wait.
        let waited = await clock.advanceToNextSleeper()

        #expect(waited == .seconds(30))
        #expect(try await task.value == ["name": "Ada"])
        // snippet.end
    }
}
