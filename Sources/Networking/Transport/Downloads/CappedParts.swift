import Foundation

/// The rest of a download whose server sends fewer bytes than a request asks for (RFC 9110 section 15.3.7). After one
/// part has arrived, the next part is requested. The request for a further part does not count as a retry.
final class CappedParts: Sendable {
    /// A part that is being received.
    private struct Part: Sendable {
        let body: IncomingBody
        /// The offset after its last byte.
        let end: Int64
        /// The offset of the next byte.
        var position: Int64
    }

    /// The maximum number of parts in one response. If a server sends so many small parts that they exceed this number,
    /// the attempt fails, and a retry requests the rest.
    private static let most = 1_000

    private let first: HTTPResponse
    private let request: HTTPRequest
    private let point: ResumePoint
    private let base: any Transport
    private let total: Int64
    private let part: Locked<Part>
    private let count = Locked(1)

    /// - Returns: Nil if the response contains all bytes that are missing, or if its length is not known.
    init?(of response: HTTPResponse, to request: HTTPRequest, from point: ResumePoint, over base: any Transport) {
        guard let total = response.headers.contentRange?.total, let part = CappedParts.part(of: response),
            part.end < total
        else { return nil }
        (first, self.request, self.point, self.base, self.total) = (response, request, point, base, total)
        self.part = Locked(part)
    }

    /// The first response, with a body that contains the bytes of all parts.
    var response: HTTPResponse {
        var response = first
        response.content = .stream(IncomingBody(pull: { try await self.next() }))
        return response
    }

    private static func part(of response: HTTPResponse) -> Part? {
        guard let range = response.headers.contentRange, let start = range.first, let last = range.last, last < .max,
            let body = try? response.content.stream
        else { return nil }
        return Part(body: body, end: last + 1, position: start)
    }

    /// Returns the next bytes; nil at the end. If the end is too early, the file is too short, and the attempt fails.
    private func next() async throws -> Data? {
        while true {
            let (body, end, position) = part.withLock { ($0.body, $0.end, $0.position) }
            var reader = body.makeAsyncIterator()
            if let chunk = try await reader.next() {
                part.withLock { $0.position += Int64(chunk.count) }
                return chunk
            }
            guard position == end, end < total, let next = try await part(from: end) else { return nil }
            part.withLock { $0 = next }
        }
    }

    private func part(from start: Int64) async throws -> Part? {
        let isAllowed = count.withLock { count in
            count += 1
            return count <= CappedParts.most
        }
        guard isAllowed else { return nil }
        var rest = request
        rest.headers[.range] = "bytes=\(start)-"
        let response = try await base.send(rest, delivering: .streamed)
        guard response.status.isSuccessful else {
            throw NetworkError(.unacceptableStatus).completed(request: rest, response: response.withoutStream)
        }
        guard point.isContinued(by: response, at: start), response.headers.contentRange?.total == total else {
            return nil
        }
        return CappedParts.part(of: response)
    }
}
