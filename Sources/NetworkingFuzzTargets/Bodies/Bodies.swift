import Foundation
import Networking

extension FuzzTarget {
    /// The bytes of a response. A server writes the bytes, and the engine receives them. If the framing of the body
    /// follows RFC 9112, the body has the expected bytes. Any other response is accepted, or is refused with a reason.
    static let bodies = FuzzTarget("bodies", count: 30_000) { input in
        let server = try server.get()
        server.prepare(input.bytes)
        let url = server.url
        let result = try waiting { () -> Result<HTTPResponse, any Error> in
            var request = HTTPRequest(.get, url)
            request.timeouts.idle = .seconds(5)
            do {
                return .success(try await PlatformTransport.shared.send(request, delivering: .buffered(limit: 65_536)))
            } catch { return .failure(error) }
        }
        let expected = FramedBody(input.bytes)
        switch result {
        case .success(let response):
            if let expected { try require([UInt8](response.data), equals: expected.bytes, "the bytes of the body") }
        case .failure(let error):
            try requireReason(
                error, .malformedResponse, .truncatedBody, .undecodableContent, .responseTooLarge,
                .connectionLostBeforeHead, .connectionLostAfterHead)
            try require(expected == nil, "a valid response is refused: \(error)")
        }
    }

    private static let server = Result { try FuzzServer() }
}
