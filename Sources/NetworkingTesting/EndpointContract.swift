import Foundation
public import Networking

/// Checks, without a network, that endpoints make the requests they are meant to make, and read the answers they are meant to get.
///
/// ```swift
/// extension ContactEndpoint {
///     static let examples: [EndpointExample] = [
///         EndpointExample(ContactEndpoint.list(page: 1)),
///         EndpointExample(ContactEndpoint.rename(id: 7, to: "Ada"), answer: .status(.noContent)),
///     ]
/// }
///
/// @Test("The contacts' endpoints keep their contract")
/// func contract() async throws { try await EndpointContract.check(ContactEndpoint.examples, in: environment) }
/// ```
///
/// The same examples are a stub: `StubTransport(answering: ContactEndpoint.examples, in: environment)`.
public enum EndpointContract {
    /// What is wrong with some examples; its description is a line for each, with what to do about it.
    public struct Breach: Error, CustomStringConvertible {
        /// What is wrong, a line each.
        public let faults: [String]
        /// The lines.
        public var description: String { faults.joined(separator: "\n") }
    }

    /// Checks examples: that the URL can be built and read again, that no segment of its path is empty, that the header fields are legal, that
    /// there is no body with GET or HEAD, that body and query can be encoded, that sample answer and sample error can be read, and that no two
    /// examples make the same request.
    ///
    /// - Parameters:
    ///   - examples: The examples, one a case at least.
    ///   - environment: Where the endpoints belong.
    ///   - settings: The service's settings, such as its decoder.
    /// - Throws: ``Breach`` with every fault of every example.
    public static func check(
        _ examples: [EndpointExample], in environment: NetworkEnvironment,
        with settings: RequestSettings = RequestSettings()
    ) async throws {
        var faults: [String] = []
        var seen: [String: String] = [:]
        for example in examples {
            let trial = Trial(example: example, environment: environment, settings: settings)
            faults += await trial.faults().map { "\(example): \($0)" }
            guard let print = await trial.fingerprint() else { continue }
            if let other = seen[print] {
                faults.append(
                    "\(example): makes the same request as \(other); give one of them another path, query or body")
            }
            seen[print] = seen[print] ?? "\(example)"
        }
        guard faults.isEmpty else { throw Breach(faults: faults) }
    }
}

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
        _ endpoint: some Endpoint, answer: StubAnswer? = nil, as converter: ResponseConverter<Value>
    ) {
        self.endpoint = endpoint
        self.answer = answer
        refusal = nil
        read = { _ = try await $0.request(endpoint, as: converter) }
    }

    /// Makes an example of an endpoint whose answer is not read.
    public init(_ endpoint: some Endpoint, answer: StubAnswer? = nil) {
        self.init(endpoint, answer: answer, as: .void)
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
    fileprivate struct ReadRefusal: Error {
        let error: any Error
    }

    fileprivate func send(
        through transport: StubTransport, _ environment: NetworkEnvironment, _ settings: RequestSettings
    ) async throws {
        try await read(
            NetworkService(
                environment: environment, transport: transport, redirects: .ignore,
                requestAdaptingService: RequestAdaptingService(), errorHandlingService: ErrorHandlingService(),
                settings: settings))
    }
}

/// One example, sent to nobody.
private struct Trial {
    let example: EndpointExample
    let environment: NetworkEnvironment
    let settings: RequestSettings

    func faults() async -> [String] {
        let request: HTTPRequest
        do { request = try await made() } catch { return ["cannot be sent: \(error)"] }
        var faults = Trial.faults(of: request)
        if let answer = example.answer, let fault = await reading(answer) {
            faults.append("its sample answer is not read: \(fault)")
        }
        if let refusal = example.refusal {
            do {
                try await example.send(through: StubTransport { _ in refusal }, environment, settings)
                faults.append("its sample refusal is taken for an answer; give it a status of 400 or above")
            } catch is EndpointExample.ReadRefusal {} catch {
                faults.append("its sample refusal is not read as the endpoint's server error: \(error)")
            }
        }
        return faults
    }

    /// What makes a request another one than another.
    func fingerprint() async -> String? {
        guard let request = try? await made() else { return nil }
        let body = request.body.data.map { "\($0.base64EncodedString())" } ?? UUID().uuidString
        let fields = request.allHeaders.map { "\($0.name): \($0.value)" }.sorted().joined(separator: "\n")
        return "\(request.method) \(request.url.absoluteString)\n\(fields)\n\(body)"
    }

    private func made() async throws -> HTTPRequest {
        let stub = StubTransport { _ in .status(.noContent) }
        do { try await example.send(through: stub, environment, settings) } catch {
            guard stub.requests.isEmpty else { return stub.requests[0] }
            throw error
        }
        return stub.requests[0]
    }

    private func reading(_ answer: StubAnswer) async -> (any Error)? {
        do {
            try await example.send(through: StubTransport { _ in answer }, environment, settings)
            return nil
        } catch { return error }
    }

    private static func faults(of request: HTTPRequest) -> [String] {
        var faults: [String] = []
        do { try request.validate() } catch { faults.append("\(error)") }
        if URL(string: request.url.absoluteString) != request.url {
            faults.append("its URL reads as another one; escape what it is made of")
        }
        let segments = request.url.path(percentEncoded: true).split(separator: "/", omittingEmptySubsequences: false)
        if segments.dropFirst().dropLast().contains("") {
            faults.append("its path has an empty segment; give the example a value that is not empty")
        }
        if [.get, .head].contains(request.method), !request.body.isEmpty {
            faults.append("it has a body with \(request.method); use another method, or parameters in the query")
        }
        return faults
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
