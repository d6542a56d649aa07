public import Foundation
public import Networking

/// A check, without a network, that endpoints create valid requests and can read their sample responses.
///
/// ```swift
/// extension ContactEndpoint {
///     static let examples: [EndpointExample] = [
///         EndpointExample(ContactEndpoint.list(page: 1)),
///         EndpointExample(ContactEndpoint.fetch(id: 7), response: .json(Contact.sample), as: .json(Contact.self)),
///     ]
/// }
///
/// @Test("The contacts' endpoints keep their contract")
/// func contract() async throws { try await EndpointContract.check(ContactEndpoint.examples, in: environment) }
/// ```
///
/// The same examples can be used as a stub: `StubTransport(examples: ContactEndpoint.examples, in: environment)`.
public enum EndpointContract {
    /// The error that ``check(_:in:with:)`` throws. Its description has one line per problem. Most lines give advice.
    public struct Breach: LocalizedError, CustomStringConvertible {
        /// The problems found, one line each.
        public let faults: [String]
        /// The problems, joined by line breaks.
        public var description: String { faults.joined(separator: "\n") }
        /// The same text as ``description``.
        public var errorDescription: String? { description }
    }

    /// Checks the requests and the sample responses of examples.
    ///
    /// The check requires that:
    /// - each stored property with the name of a member of ``Endpoint`` has the type of that member (otherwise, the
    ///   library uses the default implementation of the member, without a warning);
    /// - the URL can be built and does not change when it is parsed again, and its path has no empty segment;
    /// - the header fields are valid;
    /// - a GET or HEAD request has no body, and a request with a form has no `Content-Type` of another kind;
    /// - a path `/` is not used to add a slash to the base URL;
    /// - the body and the query can be encoded;
    /// - the endpoint can read its sample response and its sample error response;
    /// - no two examples create the same request.
    ///
    /// - Parameters:
    ///   - examples: The examples, at least one per endpoint case.
    ///   - environment: The environment of the endpoints.
    ///   - settings: The settings of the service, such as its decoder.
    /// - Throws: ``Breach`` with every problem of every example.
    public static func check(
        _ examples: [EndpointExample], in environment: NetworkEnvironment,
        with settings: RequestSettings = RequestSettings()
    ) async throws {
        var faults: [String] = []
        if examples.isEmpty { faults.append("found no examples; expected at least one per endpoint case") }
        var seen: [String: String] = [:]
        for example in examples {
            let trial = Trial(example: example, environment: environment, settings: settings)
            let request: HTTPRequest
            do { request = try await trial.made() } catch {
                faults.append("\(example) cannot be sent: \(error)")
                continue
            }
            let name = "\(example) (\(request))"
            faults += await trial.faults(of: request).map { "\(name): \($0)" }
            let print = Trial.fingerprint(of: request)
            if let other = seen[print] {
                faults.append(
                    "\(name): makes the same request as \(other); change the path, query or body of one of them")
            }
            seen[print] = seen[print] ?? name
        }
        guard faults.isEmpty else { throw Breach(faults: faults) }
    }
}

/// The check of one example. Its request is sent only to a stub.
private struct Trial {
    let example: EndpointExample
    let environment: NetworkEnvironment
    let settings: RequestSettings

    func faults(of request: HTTPRequest) async -> [String] {
        var faults = Trial.formFaults(of: request) + example.memberFaults + slashFaults
        if let response = example.response, let fault = await reading(response) {
            faults.append("the endpoint cannot read its sample response: \(fault)")
        }
        guard let errorResponse = example.errorResponse else { return faults }
        if errorResponse.status.isSuccessful {
            faults.append("its sample error response has a successful status; expected a status of 400 or above")
        } else {
            do { try example.readErrorResponse(errorResponse, to: request, settings.decoder ?? JSONDecoder()) } catch {
                faults.append("the endpoint cannot read its sample error response as its server error: \(error)")
            }
        }
        return faults
    }

    /// A path `/` adds a slash to a base URL that has none. Many servers treat the URL with the slash as another
    /// resource.
    private var slashFaults: [String] {
        guard example.endpoint.path == "/", let base = environment.baseURL?.path(percentEncoded: true), !base.isEmpty,
            base.last != "/"
        else { return [] }
        return ["its path \"/\" is sent as \"\(base)/\"; use \"\" for the base URL, or end the base URL with a slash"]
    }

    /// Returns a text that is equal for equal requests. The idempotency key is left out, because each call has a new
    /// key.
    static func fingerprint(of request: HTTPRequest) -> String {
        let body = request.body.data.map { $0.base64EncodedString() } ?? UUID().uuidString
        let fields = request.allHeaders.filter { $0.name != .idempotencyKey }.map { "\($0.name): \($0.value)" }
        return ([request.method.rawValue, request.url.absoluteString, body] + fields.sorted()).joined(separator: "\n")
    }

    /// Returns the request of the example. It is sent only to a stub that fails.
    func made() async throws -> HTTPRequest {
        let stub = StubTransport { _ in .failure(.notConnected) }
        do { try await example.send(through: stub, environment, settings) } catch {
            if stub.requests.isEmpty { throw error }
        }
        return stub.requests[0]
    }

    private func reading(_ response: StubResponse) async -> (any Error)? {
        do {
            try await example.send(through: StubTransport { _ in response }, environment, settings)
            return nil
        } catch { return error }
    }

    private static func formFaults(of request: HTTPRequest) -> [String] {
        var faults: [String] = []
        do { try request.validate() } catch { faults.append("\(error)") }
        if URL(string: request.url.absoluteString) != request.url {
            faults.append("its URL changes when it is parsed again; percent-encode its components")
        }
        let segments = request.url.path(percentEncoded: true).split(separator: "/", omittingEmptySubsequences: false)
        if segments.dropFirst().dropLast().contains("") {
            faults.append("its path has an empty segment; use a non-empty value in the example")
        }
        if let given = request.headers[.contentType], given != request.allHeaders[.contentType] {
            faults.append(
                "its Content-Type is \(given), but its body is a form, which sets its own Content-Type; remove the field"
            )
        }
        if [.get, .head].contains(request.method), !request.body.isEmpty {
            faults.append("it has a body with \(request.method); use another method, or parameters in the query")
        }
        return faults
    }
}
