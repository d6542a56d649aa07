import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("The two chains of a service", .endsInTime)
struct ChainTests {
    private struct Ended: Error {}

    private struct Ending: ErrorHandler {
        let seen: Box<[HTTPStatus?]>

        func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
            seen.change { $0.append(failure.status) }
            return .fail(Ended())
        }
    }

    @Test("Each chain may be given without the other one, and the environment may be left out", .row("R-41"))
    func alone() async throws {
        let environment = NetworkEnvironment(headers: ["X-Home": "1"])
        let seen = Box<[HTTPStatus?]>([])
        let adapting = RequestAdaptingService([HeadersAdapter(["X-Client": "app"])])
        let handling = ErrorHandlingService([Ending(seen: seen)])
        let services: [(NetworkService, isAdapted: Bool, isHandled: Bool)] = [
            (NetworkService(requestAdaptingService: adapting), true, false),
            (NetworkService(environment: environment, requestAdaptingService: adapting), true, false),
            (NetworkService(errorHandlingService: handling), false, true),
            (NetworkService(environment: environment, errorHandlingService: handling), false, true),
            (NetworkService(requestAdaptingService: adapting, errorHandlingService: handling), true, true),
        ]
        for (service, isAdapted, isHandled) in services {
            let stub = StubTransport()
            stub.on(nil, nil, .status(.notFound))
            seen.change { $0 = [] }
            let derived = NetworkService(client: service.client.with { $0.transport = stub })
            let error = await #expect(throws: (any Error).self) {
                try await derived.request(.url("https://a.example/"))
            }
            #expect(error is Ended == isHandled)
            #expect(
                error as? GeneralRequestError == (isHandled ? nil : .notFound), "the general mapping is always there")
            #expect(seen.value == (isHandled ? [.notFound] : []))
            #expect(stub.requests.map { $0.headers["X-Client"] } == [isAdapted ? "app" : nil])
        }
    }
}
