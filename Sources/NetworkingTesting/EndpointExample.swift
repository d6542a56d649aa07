import Foundation
public import Networking

/// An endpoint with example values, and its sample responses.
public struct EndpointExample: Sendable, CustomStringConvertible {
    /// The endpoint with its example values.
    public let endpoint: any Endpoint
    /// A sample response that the endpoint must be able to read. Default: nil, no sample.
    public let response: StubResponse?
    /// A sample error response that the endpoint must be able to read as its server error. Default: nil, no sample.
    public let errorResponse: StubResponse?
    private let read: @Sendable (NetworkService) async throws -> Void
    private let readErrorResponse: @Sendable (HTTPResponse, any BodyDecoder) throws -> Void

    /// Creates an example of an endpoint whose response is read by a converter. If `response` is nil, no response is
    /// read.
    public init<Value: Sendable>(
        _ endpoint: some Endpoint, response: StubResponse?, as converter: ResponseConverter<Value>
    ) {
        self.endpoint = endpoint
        self.response = response
        errorResponse = nil
        read = { _ = try await $0.request(endpoint, as: converter) }
        readErrorResponse = { _, _ in }
    }

    /// Creates an example without a sample response. A ``StubTransport`` returns 204 for it.
    public init(_ endpoint: some Endpoint) {
        self.init(endpoint, response: nil, as: .void)
    }

    /// Creates an example of an endpoint that declares the types of its result and its error.
    public init<Call: TypedEndpoint>(
        _ endpoint: Call, response: StubResponse? = nil, errorResponse: StubResponse? = nil
    ) {
        self.endpoint = endpoint
        self.response = response
        self.errorResponse = errorResponse
        read = { _ = try await $0.request(endpoint) as Call.ResponseValue }
        readErrorResponse = { _ = try $0.read(as: endpoint.errorConverter(decoder: $1)) }
    }

    /// The type of the endpoint and its enum case, without its values, because they may be secret.
    public var description: String {
        let name = "\(type(of: endpoint))"
        let mirror = Mirror(reflecting: endpoint)
        guard mirror.displayStyle == .enum else { return name }
        return "\(name).\(mirror.children.first?.label ?? "\(endpoint)")"
    }

    /// One message for each stored property that has the name of a member of ``Endpoint``, but another type. Such a
    /// property does not implement the member, so the default implementation is used.
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
            return "its `\(name)` has the type \(type(of: child.value)), so the default is used; expected \(wanted)"
        }
    }

    /// Reads the sample error response with the error converter of the endpoint.
    func readErrorResponse(_ errorResponse: StubResponse, to request: HTTPRequest, _ decoder: any BodyDecoder) throws {
        try readErrorResponse(
            HTTPResponse(
                errorResponse.status, headers: errorResponse.headers, content: .data(errorResponse.body), to: request),
            decoder)
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
    /// Creates a stub that returns the sample response of an example to the request of its endpoint. If an example has
    /// no sample response, the stub returns 204.
    ///
    /// - Throws: The error of an endpoint whose request cannot be created.
    public convenience init(examples: [EndpointExample], in environment: NetworkEnvironment) async throws {
        var responses: [(HTTPMethod, URL, StubResponse)] = []
        for example in examples {
            let recording = StubTransport { _ in .failure(.notConnected) }
            do { try await example.send(through: recording, environment, RequestSettings()) } catch {
                if recording.requests.isEmpty { throw error }
            }
            let request = recording.requests[0]
            responses.append((request.method, request.url, example.response ?? .status(.noContent)))
        }
        let all = responses
        self.init { request in
            all.first { $0.0 == request.method && $0.1 == request.url }?.2
                ?? .failure(NetworkError(.noStubRule, reason: "no example matches this request", request: request))
        }
    }
}
