import Foundation
import Networking

/// A transport that returns a prepared response, whose body arrives in small chunks.
struct ChunkTransport: Transport {
    var status = HTTPStatus.ok
    var headers: HTTPHeaders
    var body: [UInt8]
    var chunkSize: Int

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        try request.validate()
        let chunks = ChunkSource(body, chunkSize)
        return HTTPResponse(
            status, headers: headers, content: .stream(IncomingBody(pull: { chunks.next() })), to: request)
    }
}

/// The chunks of a body, one after the other.
final class ChunkSource: @unchecked Sendable {  // because one reader pulls at a time
    private var rest: ArraySlice<UInt8>
    private let size: Int

    init(_ bytes: [UInt8], _ size: Int) {
        (rest, self.size) = (bytes[...], size)
    }

    func next() -> Data? {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(size) }
        return Data(rest.prefix(size))
    }
}
