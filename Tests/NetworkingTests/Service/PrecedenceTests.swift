import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// The call comes first, then the endpoint, then the service: one test a setting.
@Suite("Which setting holds")
struct PrecedenceTests {
    private struct Call: Endpoint {
        var path: EndpointPath { "x" }
        var settings = RequestSettings()
    }

    /// What holds with a setting on call, endpoint and service, then without the call's, then without the endpoint's.
    private func holding<Value>(
        _ settings: [RequestSettings], answer: StubAnswer = .json(text: "7"),
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

    @Test("I-49, U31: timeouts, each by itself")
    func timeouts() async throws {
        let requests = try await sent(
            [1, 2, 3].map { RequestSettings(timeouts: RequestTimeouts(idle: .seconds($0), connect: .seconds($0 * 10))) }
        )
        #expect(requests.map(\.timeouts.idle) == [.seconds(1), .seconds(2), .seconds(3)])
        #expect(requests.map(\.timeouts.connect) == [.seconds(10), .seconds(20), .seconds(30)])
        let mixed = try await sent([
            RequestSettings(timeouts: RequestTimeouts(idle: .seconds(1))),
            RequestSettings(timeouts: RequestTimeouts(connect: .seconds(2))), RequestSettings(),
        ])
        #expect(mixed[0].timeouts.idle == .seconds(1) && mixed[0].timeouts.connect == .seconds(2))
        #expect(mixed[2].timeouts.idle == .seconds(60) && mixed[2].timeouts.connect == .seconds(15))
    }

    @Test("N-18: the decoder")
    func decoder() async throws {
        func decoder(_ strategy: JSONDecoder.DateDecodingStrategy) -> RequestSettings {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = strategy
            return RequestSettings(decoder: decoder)
        }
        let settings = [decoder(.secondsSince1970), decoder(.millisecondsSince1970), decoder(.deferredToDate)]
        let dates = try await holding(settings) { service, call, settings, _ in
            try await service.request(call, with: settings) as Date
        }
        #expect(
            dates == [
                Date(timeIntervalSince1970: 7), Date(timeIntervalSince1970: 0.007),
                Date(timeIntervalSinceReferenceDate: 7),
            ])
    }

    @Test("Validators, as a whole")
    func validators() async throws {
        func saying(_ word: String) -> RequestSettings {
            RequestSettings(validators: [ResponseValidator { _ in .invalid(word) }])
        }
        let words = try await holding([saying("call"), saying("endpoint"), saying("service")]) {
            service, call, settings, _ in
            await (Fixture.failure { try await service.request(call, with: settings) } as? NetworkError)?.reason
        }
        #expect(words == ["call", "endpoint", "service"])
    }

    @Test("N-17, U30: the queue of the callbacks")
    func queue() async throws {
        let key = DispatchSpecificKey<String>()
        let settings = ["call", "endpoint", "service"].map { name in
            let queue = DispatchQueue(label: name)
            queue.setSpecific(key: key, value: name)
            return RequestSettings(callbackQueue: queue)
        }
        let names = try await holding(settings) { service, call, settings, _ in
            await withCheckedContinuation { continuation in
                service.request(
                    for: call, with: settings,
                    success: { continuation.resume(returning: DispatchQueue.getSpecific(key: key)) },
                    failure: { _ in continuation.resume(returning: nil) })
            }
        }
        #expect(names == ["call", "endpoint", "service"])
    }

    @Test("N-19: the retry policy; that of the endpoint's options is the endpoint's")
    func retry() async throws {
        let settings = [1, 2, 3].map { RequestSettings().retrying(RetryPolicy(retries: $0, on: .any)) }
        let counts = try await holding(settings, answer: .status(.serviceUnavailable)) {
            service, call, settings, stub in
            _ = await Fixture.failure { try await service.request(call, with: settings) }
            return stub.requests.count
        }
        #expect(counts == [2, 3, 4])
    }

    @Test("The most attempts, the largest answer, the environment, typed options")
    func others() async throws {
        let attempts = try await holding(
            [1, 2, 3].map { RequestSettings(maximumAttempts: $0).retrying(RetryPolicy(retries: 9, on: .any)) },
            answer: .status(.serviceUnavailable)
        ) { service, call, settings, stub in
            _ = await Fixture.failure { try await service.request(call, with: settings) }
            return stub.requests.count
        }
        #expect(attempts == [1, 2, 3])
        let sizes = try await holding(
            [1, 2, 3].map { RequestSettings(maximumResponseSize: $0) }, answer: .text("four")
        ) {
            service, call, settings, _ in
            await (Fixture.failure { try await service.request(call, with: settings) } as? NetworkError)?.reason
        }
        #expect(sizes == [1, 2, 3].map { "the response has more than \($0) bytes" })
        let hosts = try await sent(
            ["a", "b", "c"].map {
                RequestSettings(
                    environment: NetworkEnvironment(
                        baseURL: URL(string: "https://\($0).example") ?? URL(fileURLWithPath: "/")))
            })
        #expect(hosts.map(\.url.host) == ["a.example", "b.example", "c.example"])
        let priorities = try await sent(
            [RequestPriority.high, .low, .normal].map {
                var settings = RequestSettings()
                settings.options[RequestPriority.self] = $0
                return settings
            })
        #expect(priorities.map { $0[option: RequestPriority.self] } == [.high, .low, .normal])
    }
}
