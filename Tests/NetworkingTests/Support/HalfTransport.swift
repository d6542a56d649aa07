import Foundation

@testable import Networking

/// Answers "<token>." twice, cut off after the first half; continues any range with the token of the request.
final class HalfTransport: Transport {
    let restarts: Bool
    let count = Box(0)
    init(restarts: Bool = false) { self.restarts = restarts }

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        count.change { $0 += 1 }
        let name = request.headers[.authorization].map { String($0.dropFirst(7)) + "." } ?? "bob."
        func answer(_ status: HTTPStatus, _ headers: HTTPHeaders, _ text: [String], fails: Bool) -> HTTPResponse {
            request.parts.transfer?.receive(ResponseHead(status: status, headers: headers), to: request)
            let left = Box(text)
            return HTTPResponse(
                status, headers: headers,
                content: .stream(
                    IncomingBody(pull: {
                        var next: String?
                        left.change { if !$0.isEmpty { next = $0.removeFirst() } }
                        if next == nil, fails { throw NetworkError(.connectionLostAfterHead) }
                        return next.map { Data($0.utf8) }
                    })), to: request)
        }
        if restarts {
            switch count.value {
            case 1: return answer(.ok, [.eTag: "\"1\"", .contentLength: "8"], ["bob."], fails: true)
            case 2: return answer(.rangeNotSatisfiable, [:], [], fails: false)
            default: return answer(.tooManyRequests, [.retryAfter: "9"], [], fails: false)
            }
        }
        if request.headers.contains(.range) {
            return answer(
                .partialContent, [.eTag: "\"1\"", "Content-Range": "bytes 4-7/8", .contentLength: "4"], ["bob."],
                fails: false)
        }
        return count.value == 1
            ? answer(.ok, [.eTag: "\"1\"", .contentLength: "8"], [String(name.prefix(4))], fails: true)
            : answer(.ok, [.eTag: "\"1\"", .contentLength: "8"], ["bob.bob."], fails: false)
    }
}
