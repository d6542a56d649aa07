public import Foundation
public import Networking

/// A response that a test prepares: a ``StubResponse`` of a ``StubTransport``, or a ``LoopbackResponse`` of a
/// ``LoopbackServer``. Both types are created with the same methods:
///
/// ```swift
/// .status(.noContent)
/// .text("hello", headers: [.eTag: "\"1\""])
/// .json(["id": 7]).delayed(by: .milliseconds(50))
/// .redirect(to: "/elsewhere")
/// ```
public protocol PreparedResponse: Sendable {
    /// The delay before the response is sent. Default: zero.
    var delay: Duration { get set }

    /// Creates a response with a body in memory.
    init(_ status: HTTPStatus, headers: HTTPHeaders, body: Data)

    /// Returns the response that is used if a value cannot be encoded.
    static func failure(_ error: any Error) -> Self
}

extension PreparedResponse {
    /// Returns a response without a body.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = []) -> Self {
        Self(status, headers: headers, body: Data())
    }

    /// Returns a response with a text in UTF-8, as `text/plain`.
    public static func text(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = []) -> Self {
        Self(status, headers: type("text/plain; charset=utf-8", headers), body: Data(text.utf8))
    }

    /// Returns a response with JSON text, which is sent unchanged.
    public static func json(text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = []) -> Self {
        Self(status, headers: type("application/json", headers), body: Data(text.utf8))
    }

    /// Returns a response with a value as JSON with sorted keys. If the value cannot be encoded, returns
    /// ``failure(_:)`` with the error of the encoder.
    public static func json(_ value: some Encodable, status: HTTPStatus = .ok, headers: HTTPHeaders = []) -> Self {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do {
            return Self(status, headers: type("application/json", headers), body: try encoder.encode(value))
        } catch {
            return .failure(error)
        }
    }

    /// Returns a redirect with a `Location` header field.
    public static func redirect(to location: String, _ status: HTTPStatus = .found) -> Self {
        Self(status, headers: [.location: location], body: Data())
    }

    /// Returns the same response with a delay. A ``StubTransport`` measures the delay on its clock. A
    /// ``LoopbackServer`` measures the delay in real time.
    public func delayed(by delay: Duration) -> Self {
        var response = self
        response.delay = delay
        return response
    }

    private static func type(_ type: String, _ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders([HTTPHeader(.contentType, type)]).merging(headers)
    }
}
