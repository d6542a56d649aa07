import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Uploads and the rules of all calls", .endsInTime)
struct UploadRuleTests {
    private let location = "https://upload.example.net/films"

    @Test("What fails after the last byte does not upload the file again", arguments: [nil, "key"])
    func over(key: String?) async throws {
        let fixture = try UploadFixture()
        let service = fixture.service {
            $0.retry = RetryPolicy(retries: 3, backoff: .constant(.zero), on: .any)
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in request.headers[.idempotencyKey] = key }
            ])
        }
        await #expect(throws: (any Error).self) {
            try await service.request(
                TapeEndpoint(file: fixture.file), with: RequestSettings { $0.validators = [.status([.ok])] })
        }
        #expect(fixture.server.methods == ["OPTIONS", "POST", "PATCH"] && fixture.server.complete.count == 1)
    }

    @Test("A handler may send another body, and an adapter may not")
    func otherBody() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.options, .respond(StubResponse(.serviceUnavailable)))
        let handler = AdHocErrorHandler { failure in
            guard var request = failure.originalRequest, request.body.length == 100_000 else {
                return .next(failure.error)
            }
            request.body = .string("instead")
            return .retry(with: request, because: "the body is replaced")
        }
        let service = fixture.service { $0.errorHandlingService = ErrorHandlingService([handler]) }
        await #expect(throws: (any Error).self) { try await fixture.upload(by: service) }
        let last = try #require(fixture.server.stub.requests.last)
        #expect(fixture.server.methods == ["OPTIONS", "POST"] && last.body.data == Data("instead".utf8))
        let adapting = fixture.service {
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in request.body = .string("instead") }
            ])
        }
        await #expect { try await fixture.upload(by: adapting) } throws: { "\($0)".contains("an adapter has changed") }
    }

    @Test("An adapter that adds something else to each URL does not make another upload of it")
    func changingQuery() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 40_000))
        let count = Box(0)
        let service = fixture.service {
            $0.retry = RetryPolicy(retries: 1, backoff: .constant(.zero))
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in
                    count.change { $0 += 1 }
                    request.url = URL(string: "\(request.url)?nonce=\(count.value)") ?? request.url
                }
            ])
        }
        try await fixture.upload(by: service)
        #expect(fixture.server.uploads.count == 1 && fixture.server.complete == [fixture.content])
    }

    @Test("A condition is refused, because it would apply to one of several requests only")
    func condition() async throws {
        let fixture = try UploadFixture()
        await #expect {
            try await fixture.service().request(
                .post("films").body(.file(fixture.file).resumable(.tus)).header("If-None-Match", "*"))
        } throws: {
            ($0 as? NetworkError)?.kind == .invalidRequest && "\($0)".contains("If-None-Match")
        }
        #expect(fixture.server.methods.isEmpty)
    }

    @Test("A part of a form cannot be resumable")
    func part() async throws {
        let fixture = try UploadFixture()
        let form = HTTPBody.multipart([HTTPBody.Part("film", body: .file(fixture.file).resumable(.tus))])
        await #expect { try await fixture.service().request(.post("films").body(form)) } throws: {
            ($0 as? NetworkError)?.kind == .invalidRequest && "\($0)".contains("found a resumable upload")
        }
        #expect(fixture.server.methods.isEmpty)
    }

    @Test("The creation may be redirected to another origin, but no other origin chooses where the token is sent")
    func redirectedCreation() async throws {
        for (home, isRefused) in [("https://api.example.com/uploads/", true), ("https://upload.example.net/", false)] {
            let fixture = try UploadFixture()
            fixture.server.change { $0.home = home }
            let stub = StubTransport()
            stub.on(nil, nil) { [server = fixture.server, location] request in
                if request.method == .post, request.url.host == "api.example.com" {
                    return StubResponse(HTTPStatus(307), headers: [.location: location])
                }
                let response = try await server.stub.send(request, delivering: .buffered(limit: 1_000))
                return StubResponse(response.status, headers: response.headers, body: response.data)
            }
            let session = AccessTokenSupervisor(token: AccessToken("1"), clock: fixture.clock.networkClock) { _ in
                AccessToken("2")
            }
            let service = fixture.service(authorizedBy: session) { $0.transport = stub }
            if isRefused {
                await #expect { try await fixture.upload(by: service) } throws: {
                    "\($0)".contains("the origin that redirected")
                }
                #expect(fixture.notes.isEmpty && fixture.server.patches.isEmpty)
            } else {
                try await fixture.upload(by: service)
                #expect(fixture.server.complete == [fixture.content])
            }
            for request in stub.requests where request.url.host != "api.example.com" {
                #expect(request.headers[.authorization] == nil)
            }
        }
    }

    @Test("A request that is redirected to another origin takes the bytes with it, and no token")
    func redirectedPart() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(
            .patch,
            .respond(StubResponse(HTTPStatus(307), headers: [.location: "https://upload.example.net/uploads/1"])))
        let session = AccessTokenSupervisor(token: AccessToken("1"), clock: fixture.clock.networkClock) { _ in
            AccessToken("2")
        }
        try await fixture.upload(by: fixture.service(authorizedBy: session))
        #expect(fixture.server.complete == [fixture.content])
        let last = try #require(fixture.server.stub.requests.last)
        #expect(last.url.host == "upload.example.net" && last.headers[.authorization] == nil)
    }

    @Test("An upload that is in progress elsewhere, or fails at another origin, says nothing bad about its host")
    func breaker() async throws {
        let fixture = try UploadFixture()
        let breaker = CircuitBreaker(failureRatio: 0.1, minimumCalls: 1, clock: fixture.clock.networkClock)
        let service = fixture.service { $0.circuitBreaker = breaker }
        let home = try #require(URL(string: "https://api.example.com").flatMap(HTTPOrigin.init))
        fixture.server.change { $0.home = "https://storage.example.net/" }
        fixture.server.order(
            .patch, .cut(after: 10), .respond(StubResponse(.serviceUnavailable)), .respond(.failure(.cannotConnect)))
        for _ in 0..<3 { try? await fixture.upload(by: service) }
        for _ in 0..<20 { fixture.server.order(.head, .respond(StubResponse(HTTPStatus(423)))) }
        for _ in 0..<20 { try? await fixture.upload(by: service) }
        #expect(breaker.state(of: home) == .closed && fixture.server.methods.count > 25)
        fixture.server.order(.post, .respond(StubResponse(.serviceUnavailable)))
        try? await service.request(.post("other").body(.string("x")))
        #expect(breaker.state(of: home) == .open)
        fixture.clock.advance(by: .seconds(31))
        fixture.server.order(.patch, .respond(StubResponse(.serviceUnavailable)))
        try? await fixture.upload(by: service)
        #expect(
            breaker.state(of: home) != .closed, "only the storage has responded: \(fixture.server.methods.suffix(5))")
    }

    @Test("The next call continues a cancelled upload", arguments: [HTTPMethod.options, .post, .head, .patch])
    func cancelled(method: HTTPMethod) async throws {
        let fixture = try UploadFixture()
        if method == .head {
            fixture.server.order(.patch, .cut(after: 40_000))
            await #expect(throws: (any Error).self) { try await fixture.upload() }
        }
        let never = Settlement<Void>()
        let arrived = Settlement<Void>()
        let stub = StubTransport()
        stub.on(nil, nil) { [server = fixture.server] request in
            if request.method == method {
                arrived.settle(.success(()))
                try await never.value()
            }
            let response = try await server.stub.send(request, delivering: .buffered(limit: 1_000))
            return StubResponse(response.status, headers: response.headers, body: response.data)
        }
        let task = fixture.service { $0.transport = stub }.task(TapeEndpoint(file: fixture.file), as: .void)
        try await arrived.value()
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        try await fixture.upload()
        #expect(fixture.server.complete == [fixture.content] && fixture.notes.isEmpty)
    }

    @Test("Retries are counted anew when bytes have arrived")
    func retries() async throws {
        let fixture = try UploadFixture()
        for _ in 0..<7 { fixture.server.order(.patch, .cut(after: 10_000)) }
        let service = fixture.service { $0.retry = RetryPolicy(retries: 2, backoff: .constant(.zero)) }
        try await fixture.upload(by: service)
        #expect(fixture.server.complete == [fixture.content])
        for _ in 0..<7 { fixture.server.order(.patch, .cut(after: 0)) }
        await #expect(throws: NetworkError.self) { try await fixture.upload(by: service) }
        #expect(fixture.server.patches.count == 8 + 3)
    }

    @Test("An adapter that collects the body changes nothing about the upload")
    func collected() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 40_000))
        let service = fixture.service {
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in request.body = try await request.body.collected() }
            ])
        }
        await #expect(throws: NetworkError.self) { try await fixture.upload(by: service) }
        let isDiscarded = try await service.discardUpload(of: TapeEndpoint(file: fixture.file))
        #expect(isDiscarded)
        #expect(fixture.server.methods == ["OPTIONS", "POST", "PATCH", "DELETE"])
        let isDiscardedAgain = try await service.discardUpload(of: TapeEndpoint(file: fixture.file))
        #expect(!isDiscardedAgain)
    }

    @Test("A request that is not sent as a call cannot have a resumable body")
    func requestOnly() async throws {
        let fixture = try UploadFixture()
        await #expect { try await fixture.service().httpRequest(for: TapeEndpoint(file: fixture.file)) } throws: {
            ($0 as? NetworkError)?.kind == .invalidRequest && "\($0)".contains("found a resumable body")
        }
    }
}
