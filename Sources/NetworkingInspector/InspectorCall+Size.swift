import Foundation
import Networking

/// The approximate memory that a call retains.
extension InspectorCall {
    /// Returns the number of bytes that an attempt retains.
    static func size(of attempt: RequestAttempt) -> Int {
        let hops = attempt.redirects.reduce(0) { $0 + size(of: $1) + size(of: $1.request) }
        let request = attempt.request.map { size(of: $0) } ?? 0
        return request + (attempt.response.map { size(of: $0) } ?? 0) + hops + 2_048
    }

    private static func size(of request: HTTPRequest) -> Int {
        512 + request.url.absoluteString.utf8.count + (request.body.data?.count ?? 0) + size(of: request.headers)
    }

    private static func size(of response: HTTPResponse) -> Int {
        512 + response.data.count + size(of: response.headers)
    }

    /// A field needs about 100 bytes in addition to its texts.
    private static func size(of headers: HTTPHeaders) -> Int {
        headers.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 100 }
    }
}
