import Foundation
public import Networking

/// An endpoint with values, and what it is answered with.
public struct EndpointExample: Sendable, CustomStringConvertible {
    /// The endpoint.
    public let endpoint: any Endpoint
    /// A response that it has to read.
    public let answer: StubResponse?
    /// A refusal that it has to read.
    public let refusal: StubResponse?
    private let read: @Sendable (NetworkService) async throws -> Void
    private let readRefusal: @Sendable (HTTPResponse, JSONDecoder) throws -> Void

    /// Makes an example of an endpoint whose response is read by a converter, or not at all.
    public init<Value: Sendable>(
        _ endpoint: some Endpoint, answer: StubResponse?, as converter: ResponseConverter<Value>
    ) {
        self.endpoint = endpoint
        self.answer = answer
        refusal = nil
        read = { _ = try await $0.request(endpoint, as: converter) }
        readRefusal = { _, _ in }
    }

    /// Makes an example of an endpoint that is answered with 204, where it is a stub.
    public init(_ endpoint: some Endpoint) {
        self.init(endpoint, answer: nil, as: .void)
    }

    /// Makes an example of an endpoint that knows its result and its error.
    public init<Call: TypedEndpoint>(_ endpoint: Call, answer: StubResponse? = nil, refusal: StubResponse? = nil) {
        self.endpoint = endpoint
        self.answer = answer
        self.refusal = refusal
        read = { _ = try await $0.request(endpoint) as Call.ResponseValue }
        readRefusal = { _ = try $0.read(as: endpoint.errorConverter(decoder: $1)) }
    }

    /// The endpoint's type and its case; not its values, which may be secret.
    public var description: String {
        let name = "\(type(of: endpoint))"
        let mirror = Mirror(reflecting: endpoint)
        guard mirror.displayStyle == .enum else { return name }
        return "\(name).\(mirror.children.first?.label ?? "\(endpoint)")"
    }

    /// Stored properties that look like members of an endpoint, and are not: their type is another one, so that the
    /// default holds.
    var memberFaults: [String] {
        let members: [String: Any.Type] = [
            "baseURL": URL.self, "path": EndpointPath.self, "method": HTTPMethod.self, "headers": HTTPHeaders.self,
            "query": URLQuery.self, "body": HTTPBody.self, "parameters": RequestParameters.self,
            "authorizationType": AuthorizationType.self, "idempotencyKey": IdempotencyKey.self,
            "options": HTTPRequest.Options.self, "timeouts": HTTPRequest.Timeouts.self,
            "settings": RequestSettings.self,
        ]
        let mirror = Mirror(reflecting: endpoint)
        guard mirror.displayStyle == .struct || mirror.displayStyle == .class else { return [] }
        return mirror.children.compactMap { child in
            guard let name = child.label, let wanted = members[name], type(of: child.value) != wanted else {
                return nil
            }
            return "its `\(name)` is a \(type(of: child.value)), so that the default holds; make it a \(wanted)"
        }
    }

    /// Reads the sample refusal as what the endpoint says it is.
    func readRefusal(_ refusal: StubResponse, to request: HTTPRequest, _ decoder: JSONDecoder) throws {
        try readRefusal(
            HTTPResponse(refusal.status, headers: refusal.headers, content: .data(refusal.body), to: request), decoder)
    }

    func send(
        through transport: StubTransport, _ environment: NetworkEnvironment, _ settings: RequestSettings
    ) async throws {
        try await read(
            NetworkService(environment: environment) {
                $0.transport = transport
                $0.redirects = .ignore
                $0.requestAdaptingService = RequestAdaptingService()
                $0.errorHandlingService = ErrorHandlingService([])
                $0.settings = settings
            })
    }
}

extension StubTransport {
    /// A stub that answers as examples say, each to the request that its endpoint makes; an example without a response
    /// gets 204.
    public convenience init(examples: [EndpointExample], in environment: NetworkEnvironment) async throws {
        var answers: [(HTTPMethod, URL, StubResponse)] = []
        for example in examples {
            let recording = StubTransport { _ in .failure(.notConnected) }
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
