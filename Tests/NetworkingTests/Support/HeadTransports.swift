import Foundation

@testable import Networking

// The policy and the transports of the tests of heads.

/// A policy that logs what it hears.
final class ListeningPolicy: AdmissionPolicy {
    private let name: String
    private let log: Box<[String]>
    private let whenHeard: @Sendable () -> Void

    init(_ name: String, _ log: Box<[String]>, whenHeard: @escaping @Sendable () -> Void = {}) {
        (self.name, self.log, self.whenHeard) = (name, log, whenHeard)
    }

    func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? { AdmissionPermit() }

    func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit { AdmissionPermit() }

    func heard(_ permit: AdmissionPermit, _ head: HTTPResponse) {
        whenHeard()
        log.change { $0.append("\(name) heard \(head.status.code), \(head.data.count) bytes") }
    }

    func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
        log.change { $0.append("\(name) left") }
    }
}

/// A transport that reports a head as an engine does, and returns the response when the test ends its body.
final class SlowBodyTransport: Transport {
    /// Settled when the head was reported.
    let head = Settlement<Void>()
    private let body = Settlement<Void>()
    private let status: HTTPStatus
    private let headers: HTTPHeaders

    init(_ status: HTTPStatus, headers: HTTPHeaders = []) {
        (self.status, self.headers) = (status, headers)
    }

    func end() { body.settle(.success(())) }

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        request.parts.transfer?.receive(ResponseHead(status: status, headers: headers), to: request)
        head.settle(.success(()))
        await body.wait()
        return HTTPResponse(status, headers: headers, content: .data(Data("body".utf8)), to: request)
    }
}

/// Redirects the first request for each path other than `/target` to `/target`.
struct RedirectingTransport: Transport {
    let base: any Transport

    init(_ base: any Transport) { self.base = base }

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        guard request.url.path != "/target" else { return try await base.send(request, delivering: delivery) }
        let headers: HTTPHeaders = [.location: "/target"]
        request.parts.transfer?.receive(ResponseHead(status: .found, headers: headers), to: request)
        return HTTPResponse(.found, headers: headers, to: request)
    }
}

/// Sends the first request with one transport, and the others with a second one.
final class AlternatingTransport: Transport {
    private let first: any Transport
    private let rest: any Transport
    private let count = Box(0)

    init(_ first: any Transport, _ rest: any Transport) {
        (self.first, self.rest) = (first, rest)
    }

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        count.change { $0 += 1 }
        return try await (count.value == 1 ? first : rest).send(request, delivering: delivery)
    }
}

/// Answers with a response that can be stored, then with a 304 for another one, then with 429.
final class RefetchTransport: Transport {
    let count = Box(0)
    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        count.change { $0 += 1 }
        let (status, headers): (HTTPStatus, HTTPHeaders) =
            switch count.value {
            case 1: (.ok, [.cacheControl: "max-age=1", .eTag: "\"1\""])
            case 2: (.notModified, [.eTag: "\"2\""])
            default: (.tooManyRequests, [.retryAfter: "9"])
            }
        request.parts.transfer?.receive(ResponseHead(status: status, headers: headers), to: request)
        return HTTPResponse(status, headers: headers, content: .data(Data("x".utf8)), to: request)
    }
}
