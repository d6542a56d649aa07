import Foundation
public import Networking

/// Checks, without a network, that endpoints make the requests they are meant to make, and read the answers they are meant to get.
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
