public import Foundation
public import Networking

/// Checks, without a network, that endpoints make the requests they are meant to make, and read the responses they are
/// meant to get.
///
/// ```swift
/// extension ContactEndpoint {
///     static let examples: [EndpointExample] = [
///         EndpointExample(ContactEndpoint.list(page: 1)),
///         EndpointExample(ContactEndpoint.fetch(id: 7), answer: .json(Contact.sample), as: .json(Contact.self)),
///     ]
/// }
///
/// @Test("The contacts' endpoints keep their contract")
/// func contract() async throws { try await EndpointContract.check(ContactEndpoint.examples, in: environment) }
/// ```
///
/// The same examples are a stub: `StubTransport(examples: ContactEndpoint.examples, in: environment)`.
public enum EndpointContract {
    /// What is wrong with some examples; its description is a line for each, with what to do about it.
    public struct Breach: LocalizedError, CustomStringConvertible {
        /// What is wrong, a line each.
        public let faults: [String]
        /// The lines.
        public var description: String { faults.joined(separator: "\n") }
        /// The same.
        public var errorDescription: String? { description }
    }

    /// Checks examples: that no stored property has the name of an endpoint's member and another type, so that the
    /// default holds in silence, that the URL can be built and read again, that no segment of its path is empty, that
    /// the header fields are legal, that there is no body with GET or HEAD, that body and query can be encoded, that
    /// sample answer and sample error can be read, and that no two examples make the same request.
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
        if examples.isEmpty { faults.append("there are no examples; give one a case at least") }
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
                    "\(name): makes the same request as \(other); give one of them another path, query or body")
            }
            seen[print] = seen[print] ?? name
        }
        guard faults.isEmpty else { throw Breach(faults: faults) }
    }
}

/// One example, sent to nobody.
private struct Trial {
    let example: EndpointExample
    let environment: NetworkEnvironment
    let settings: RequestSettings

    func faults(of request: HTTPRequest) async -> [String] {
        var faults = Trial.formFaults(of: request) + example.memberFaults
        if let answer = example.answer, let fault = await reading(answer) {
            faults.append("its sample answer is not read: \(fault)")
        }
        guard let refusal = example.refusal else { return faults }
        if refusal.status.isSuccessful {
            faults.append("its sample refusal is an answer; give it a status of 400 or above")
        } else {
            do { try example.readRefusal(refusal, to: request, settings.decoder ?? JSONDecoder()) } catch {
                faults.append("its sample refusal is not read as the endpoint's server error: \(error)")
            }
        }
        return faults
    }

    /// What makes a request another one than another. A key that is minted for each call is not part of it.
    static func fingerprint(of request: HTTPRequest) -> String {
        let body = request.body.data.map { $0.base64EncodedString() } ?? UUID().uuidString
        let fields = request.allHeaders.filter { $0.name != .idempotencyKey }.map { "\($0.name): \($0.value)" }
        return ([request.method.rawValue, request.url.absoluteString, body] + fields.sorted()).joined(separator: "\n")
    }

    /// The request, which is sent to nobody.
    func made() async throws -> HTTPRequest {
        let stub = StubTransport { _ in .failure(.notConnected) }
        do { try await example.send(through: stub, environment, settings) } catch {
            if stub.requests.isEmpty { throw error }
        }
        return stub.requests[0]
    }

    private func reading(_ answer: StubResponse) async -> (any Error)? {
        do {
            try await example.send(through: StubTransport { _ in answer }, environment, settings)
            return nil
        } catch { return error }
    }

    private static func formFaults(of request: HTTPRequest) -> [String] {
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
