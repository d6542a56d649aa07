import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// The status of a response counts from its head: a 401, a 404 or a redirect whose body stalls, is cut off or cannot be
/// decoded is still a 401, a 404 or a redirect.
@Suite("Bodies of rejected responses", .endsInTime)
struct RejectedBodyTests {
    private static let losses: [NetworkError.Kind] = [
        .truncatedBody, .connectionLostAfterHead, .malformedResponse, .undecodableContent, .responseTooLarge,
        .idleTimedOut, .unknown,
    ]

    private let clock = ManualClock()

    /// Returns a stub whose response with a status fails after a part of its body. Requests with the path `whole` or
    /// with the new token get `ok`.
    private func stub(_ status: HTTPStatus, _ kind: NetworkError.Kind, headers: HTTPHeaders = [:]) -> StubTransport {
        StubTransport { request in
            guard request.headers[.authorization] != "Bearer new", !request.url.path.hasSuffix("whole") else {
                return .text("ok")
            }
            let response = HTTPResponse(status, headers: headers, content: .data(Data("part".utf8)), to: request)
            return .failure(NetworkError(kind, response: response))
        }
    }

    private func service(
        _ transport: any Transport, _ set: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.clock = clock.networkClock
            $0.retry = RetryPolicy(retries: 2)
            set(&$0)
        }
    }

    private func failure(_ call: () async throws -> Void) async -> NetworkError? {
        let error = await Fixture.failure(call)
        return error as? NetworkError ?? (error as? GeneralRequestError)?.cause
    }

    @Test("A 401 whose body fails starts a refresh", arguments: losses)
    func unauthorized(kind: NetworkError.Kind) async throws {
        let refreshes = Box(0)
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            refreshes.change { $0 += 1 }
            return AccessToken("new")
        }
        let stub = stub(.unauthorized, kind)
        let service = service(stub) { $0.session = session }
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
        #expect(refreshes.value == 1)
        #expect(stub.requests.count == 2)
    }

    @Test("A 404 whose body fails is notFound, keeps what has arrived, says so, and is not retried", arguments: losses)
    func notFound(kind: NetworkError.Kind) async throws {
        let stub = stub(.notFound, kind)
        let service = service(stub)
        let error = await Fixture.failure { try await service.request(UserEndpoint.open) }
        #expect(error as? GeneralRequestError == .notFound)
        let cause = try #require((error as? GeneralRequestError)?.cause)
        #expect(cause.kind == .unacceptableStatus)
        #expect(cause.response?.data == Data("part".utf8))
        #expect(cause.reason == "404 Not Found; its body was cut off after 4 bytes: \(kind.explanation)")
        #expect(stub.requests.count == 1)
    }

    @Test("If the call accepts the status, the failure of the body is the error", arguments: losses)
    func accepted(kind: NetworkError.Kind) async throws {
        for validators in [[], [ResponseValidator.status(200..<500)], [.status([.ok, .notFound])]] {
            let service = service(stub(.notFound, kind)) {
                $0.retry = nil
                $0.settings.validators = validators
            }
            #expect(await failure { try await service.request(UserEndpoint.open) }?.kind == kind)
        }
    }

    @Test("Failures that do not concern the body, and failures after a success, are not changed")
    func otherFailures() async throws {
        for kind in [NetworkError.Kind.cancelled, .transportShutDown, .bodyUnreadable] {
            let service = service(stub(.notFound, kind)) { $0.retry = nil }
            #expect(await failure { try await service.request(UserEndpoint.open) }?.kind == kind)
        }
        let success = service(stub(.ok, .truncatedBody)) { $0.retry = nil }
        #expect(await failure { try await success.request(UserEndpoint.open) }?.kind == .truncatedBody)
    }

    @Test("A validator of a status rejects a success, too; no other validator gets the part of a body")
    func rejectedSuccess() async throws {
        let asked = Box(0)
        let service = service(stub(.ok, .truncatedBody)) {
            $0.settings.validators = [
                ResponseValidator { _ in
                    asked.change { $0 += 1 }
                    return .invalid("the body is incomplete")
                }, .status([.created]),
            ]
        }
        let error = await failure { try await service.request(UserEndpoint.open) }
        #expect(error?.kind == .unacceptableStatus)
        #expect(error?.response?.data == Data("part".utf8))
        #expect(asked.value == 0)
    }

    @Test("A redirect whose body fails is followed, also without validators", arguments: losses)
    func redirect(kind: NetworkError.Kind) async throws {
        for validators in [[ResponseValidator].standard, []] {
            let stub = stub(.found, kind, headers: [.location: "whole"])
            let service = service(stub) { $0.settings.validators = validators }
            #expect(try await service.request(UserEndpoint.open, as: .string) == "ok")
            #expect(stub.requests.count == 2)
        }
        let bad = service(stub(.found, kind, headers: [.location: "ftp://example.com"]))
        #expect(await failure { try await bad.request(UserEndpoint.open) }?.kind == .redirectRefused)
        let ignoring = service(stub(.found, kind, headers: [.location: "whole"])) { $0.redirects = .ignore }
        #expect(await failure { try await ignoring.request(UserEndpoint.open) }?.status == .found)
    }

    @Test("A part that decodes is the server's error; otherwise the status decides")
    func serverError() async throws {
        struct Fault: Decodable { let code: Int }
        for (text, code) in [("{\"code\":7}", 7), ("{\"code\":", nil)] {
            let service = service(
                StubTransport { request in
                    let page = HTTPResponse(
                        .notFound, headers: [.contentType: "application/json"], content: .data(Data(text.utf8)),
                        to: request)
                    return .failure(NetworkError(.truncatedBody, response: page))
                })
            let error = await Fixture.failure { try await service.request(.get("x").failing(as: Fault.self)) }
            #expect((error as? ServerFailure<Fault>)?.serverError.code == code)
            if code == nil { #expect(error as? GeneralRequestError == .notFound) }
        }
    }

    @Test("The error of a 401 without a token says why there was none, and that the body was cut off")
    func explanation() async throws {
        let service = service(stub(.unauthorized, .truncatedBody))
        let error = await failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(error?.reason?.contains("sent without a token: the service has no session") == true)
        #expect(error?.reason?.contains("; its body was cut off after 4 bytes: ") == true)
    }

    @Test("The policies get the response of an error page whose body fails, even if the call accepts its status")
    func breaker() async throws {
        let breaker = CircuitBreaker(failureRatio: 0.1, minimumCalls: 1, clock: clock.networkClock)
        let service = service(stub(.notFound, .connectionLostAfterHead)) {
            $0.retry = nil
            $0.circuitBreaker = breaker
            $0.settings.validators = []
        }
        for _ in 0..<3 {
            #expect(await failure { try await service.request(UserEndpoint.open) }?.kind == .connectionLostAfterHead)
        }
    }
}
