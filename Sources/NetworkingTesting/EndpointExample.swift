import Foundation
public import Networking

/// An endpoint with values, and what it is answered with.
public struct EndpointExample: Sendable, CustomStringConvertible {
    /// The endpoint.
    public let endpoint: any Endpoint
    /// An answer that it has to read.
    public let answer: StubAnswer?
    /// A refusal that it has to read.
    public let refusal: StubAnswer?
    private let read: @Sendable (NetworkService) async throws -> Void

    /// Makes an example of an endpoint whose answer is read by a converter, or not at all.
    public init<Value: Sendable>(
        _ endpoint: some Endpoint, answer: StubAnswer?, as converter: ResponseConverter<Value>
    ) {
        self.endpoint = endpoint
        self.answer = answer
        refusal = nil
        read = { _ = try await $0.request(endpoint, as: converter) }
    }

    /// Makes an example of an endpoint that is answered with 204, where it is a stub.
    public init(_ endpoint: some Endpoint) {
        self.init(endpoint, answer: nil, as: .void)
    }

    /// Makes an example of an endpoint that knows its answer and its error.
    public init<Call: TypedEndpoint>(_ endpoint: Call, answer: StubAnswer? = nil, refusal: StubAnswer? = nil) {
        self.endpoint = endpoint
        self.answer = answer
        self.refusal = refusal
        read = { service in
            do { _ = try await service.request(endpoint) as Call.Value } catch let error
                as ServerFailure<Call.ServerError>
            {
                throw ReadRefusal(error: error)
            }
        }
    }

    /// The case and its values.
    public var description: String { "\(type(of: endpoint)).\(endpoint)" }

    /// The refusal was read as what the endpoint says it is.
    struct ReadRefusal: Error {
        let error: any Error
    }

    func send(
        through transport: StubTransport, _ environment: NetworkEnvironment, _ settings: RequestSettings
    ) async throws {
        try await read(
            NetworkService(
                environment: environment, transport: transport, redirects: .ignore,
                requestAdaptingService: RequestAdaptingService(), errorHandlingService: ErrorHandlingService(),
                settings: settings))
    }
}

extension StubTransport {
    /// A stub that answers as examples say, each to the request that its endpoint makes; an example without an answer gets 204.
    public convenience init(answering examples: [EndpointExample], in environment: NetworkEnvironment) async throws {
        var answers: [(HTTPMethod, URL, StubAnswer)] = []
        for example in examples {
            let recording = StubTransport { _ in .status(.noContent) }
            do { try await example.send(through: recording, environment, RequestSettings()) } catch {
                if recording.requests.isEmpty { throw error }
            }
            let request = recording.requests[0]
            answers.append((request.method, request.url, example.answer ?? .status(.noContent)))
        }
        let all = answers
        self.init { request in
            all.first { $0.0 == request.method && $0.1 == request.url }?.2
                ?? .failure(NetworkError(.noStubRule, reason: "no example makes this request", request: request))
        }
    }
}
