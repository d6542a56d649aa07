import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Tests the precedence of each setting: the call comes first, then the endpoint, then the service.
@Suite("Precedence of settings", .endsInTime)
struct PrecedenceTests {
    private struct Call: Endpoint {
        var path: EndpointPath { "x" }
        var settings = RequestSettings()
    }

    /// Returns the values of three calls. For the first call, the call, the endpoint and the service have settings. For
    /// the second call, the endpoint and the service have settings. For the third call, only the service has settings.
    private func holding<Value>(
        _ settings: [RequestSettings], answer: StubResponse = .json(text: "7"),
        _ ask: (NetworkService, Call, RequestSettings, StubTransport) async throws -> Value
    ) async throws -> [Value] {
        var values: [Value] = []
        for count in 0..<3 {
            let stub = StubTransport { _ in answer }
            let service = NetworkService(environment: Fixture.environment) {
                $0.transport = stub
                $0.settings = settings[2]
            }
            let call = Call(settings: count < 2 ? settings[1] : RequestSettings())
            values.append(try await ask(service, call, count < 1 ? settings[0] : RequestSettings(), stub))
        }
        return values
    }

    private func sent(_ settings: [RequestSettings]) async throws -> [HTTPRequest] {
        try await holding(settings) { service, call, settings, stub in
            try await service.request(call, with: settings)
            return stub.requests[0]
        }
    }

    @Test("Each timeout follows the precedence independently", .row("I-49"))
    func timeouts() async throws {
        let requests = try await sent(
            [1, 2, 3].map { number in
                RequestSettings {
                    $0.timeouts = HTTPRequest.Timeouts(idle: .seconds(number), connect: .seconds(number * 10))
                }
            }
        )
        #expect(requests.map(\.timeouts.idle) == [.seconds(1), .seconds(2), .seconds(3)])
        #expect(requests.map(\.timeouts.connect) == [.seconds(10), .seconds(20), .seconds(30)])
        let mixed = try await sent([
            RequestSettings { $0.timeouts.idle = .seconds(1) },
            RequestSettings { $0.timeouts.connect = .seconds(2) }, RequestSettings(),
        ])
        #expect(mixed[0].timeouts.idle == .seconds(1) && mixed[0].timeouts.connect == .seconds(2))
        #expect(mixed[2].timeouts.idle == .seconds(60) && mixed[2].timeouts.connect == .seconds(15))
    }

    @Test("The decoder follows the precedence", .row("N-18"))
    func decoder() async throws {
        func decoder(_ strategy: JSONDecoder.DateDecodingStrategy) -> RequestSettings {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = strategy
            return RequestSettings { $0.decoder = decoder }
        }
        // No decoder is the one that is used if there are no settings.
        let service = decoder(.custom { _ in .distantPast })
        let settings = [decoder(.secondsSince1970), decoder(.millisecondsSince1970), service]
        let dates = try await holding(settings) { service, call, settings, _ in
            try await service.request(call, with: settings) as Date
        }
        #expect(dates == [Date(timeIntervalSince1970: 7), Date(timeIntervalSince1970: 0.007), .distantPast])
    }

    @Test("A list of validators replaces the whole list of settings with lower precedence")
    func validators() async throws {
        func saying(_ word: String) -> RequestSettings {
            RequestSettings { $0.validators = [ResponseValidator { _ in .invalid(word) }] }
        }
        let words = try await holding([saying("call"), saying("endpoint"), saying("service")]) {
            service, call, settings, _ in
            await (Fixture.failure { try await service.request(call, with: settings) } as? NetworkError)?.reason
        }
        #expect(words == ["call", "endpoint", "service"])
    }

    @Test("The encoder of a body takes precedence over the encoders of the call, the endpoint and the service")
    func encoder() async throws {
        let settings = [1, 2, 3].map { indent in
            RequestSettings { settings in
                let encoder = JSONEncoder()
                encoder.outputFormatting = indent == 1 ? .prettyPrinted : indent == 2 ? .sortedKeys : []
                encoder.keyEncodingStrategy = indent == 3 ? .convertToSnakeCase : .useDefaultKeys
                settings.encoder = encoder
            }
        }
        struct Body: Encodable, Sendable {
            let theName = 1
        }
        let plain = JSONEncoder()
        let stub = StubTransport { _ in .status(.ok) }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.settings = settings[2]
        }
        try await service.request(.post("x").body(.json(Body())))
        try await service.request(.post("x").body(.json(Body())), with: settings[0])
        try await service.request(.post("x").body(.json(Body())).settings { $0 = settings[1] })
        try await service.request(.post("x").body(.json(Body(), encoder: plain)))
        try await service.request(.post("x").body(.multipart([HTTPBody.Part("part", body: .json(Body()))])))
        let bodies = stub.requests.map { $0.body.data.map { String(decoding: $0, as: UTF8.self) } }
        #expect(
            bodies.prefix(4) == [#"{"the_name":1}"#, "{\n  \"theName\" : 1\n}", #"{"theName":1}"#, #"{"theName":1}"#])
        let form = try await stub.requests[4].body.spooled(inMemory: 1 << 20, idle: .seconds(1))
        #expect(String(decoding: form, as: UTF8.self).contains("the_name"))
    }

    @Test("An endpoint's authorization takes precedence over the service's authorization, which is none by default")
    func authorization() async throws {
        let stub = StubTransport { _ in .status(.ok) }
        let session = AccessTokenSupervisor(token: AccessToken("t"), clock: Fixture.stillClock) { _ in AccessToken("u")
        }
        let plain = NetworkService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        let bearer = NetworkService(client: plain.client.with { $0.settings.authorizationType = .bearer })
        try await plain.request(.get("a"))
        try await bearer.request(.get("b"))
        try await bearer.request(UserEndpoint.open)
        try await bearer.request(.get("d").authorized(.custom("Token")))
        try await plain.request(.get("e"), with: RequestSettings { $0.authorizationType = .bearer })
        #expect(
            stub.requests.map { $0.headers[.authorization] } == [nil, "Bearer t", nil, "Token t", "Bearer t"])
    }

    @Test("The settings and the idempotency key of a call take precedence over those of its endpoint")
    func ownMembers() async throws {
        struct Own: Endpoint {
            let path: EndpointPath = "own"
            let settings = RequestSettings { $0.timeouts = HTTPRequest.Timeouts(idle: .seconds(5), total: .seconds(7)) }
            let idempotencyKey: IdempotencyKey = "mine"
        }
        let stub = StubTransport { _ in .status(.ok) }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        try await service.request(Own())
        try await service.request(
            Own(),
            with: RequestSettings {
                $0.timeouts.total = .seconds(3)
                $0.idempotencyKey = "call"
            })
        #expect(stub.requests.map(\.timeouts.total) == [.seconds(7), .seconds(3)])
        #expect(stub.requests.map(\.timeouts.idle) == [.seconds(5), .seconds(5)])
        #expect(stub.requests.map { $0.headers[.idempotencyKey] } == ["mine", "call"])
    }

    /// Returns settings with a retry policy.
    private func retrying(_ policy: RetryPolicy, maximumAttempts: Int? = nil) -> RequestSettings {
        RequestSettings {
            $0.retry = policy
            $0.maximumAttempts = maximumAttempts
        }
    }

    @Test("The retry policy follows the precedence", .row("N-19"))
    func retry() async throws {
        let settings = [1, 2, 3].map { retrying(RetryPolicy(retries: $0, on: .any)) }
        let counts = try await holding(settings, answer: .status(.serviceUnavailable)) {
            service, call, settings, stub in
            _ = await Fixture.failure { try await service.request(call, with: settings) }
            return stub.requests.count
        }
        #expect(counts == [2, 3, 4])
    }

    @Test("Maximum attempts, maximum response size, environment and typed options follow the precedence")
    func others() async throws {
        let attempts = try await holding(
            [1, 2, 3].map { retrying(RetryPolicy(retries: 9, on: .any), maximumAttempts: $0) },
            answer: .status(.serviceUnavailable)
        ) { service, call, settings, stub in
            _ = await Fixture.failure { try await service.request(call, with: settings) }
            return stub.requests.count
        }
        #expect(attempts == [1, 2, 3])
        let sizes = try await holding(
            [1, 2, 3].map { size in RequestSettings { $0.maximumResponseSize = size } }, answer: .text("four")
        ) {
            service, call, settings, _ in
            await (Fixture.failure { try await service.request(call, with: settings) } as? NetworkError)?.reason
        }
        #expect(sizes == [1, 2, 3].map { "the response has more than \($0) bytes" })
        let hosts = try await sent(
            ["a", "b", "c"].map { host in
                RequestSettings {
                    $0.environment = NetworkEnvironment(
                        baseURL: URL(string: "https://\(host).example") ?? URL(fileURLWithPath: "/"))
                }
            })
        #expect(hosts.map(\.url.host) == ["a.example", "b.example", "c.example"])
        let priorities = try await sent(
            [HTTPRequest.Priority.high, .low, .normal].map {
                var settings = RequestSettings()
                settings.priority = $0
                return settings
            })
        #expect(priorities.map { $0.priority } == [.high, .low, .normal])
    }
}
