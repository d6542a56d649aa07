import Foundation

/// The destination into which a converter reads the body of a response.
enum BodyTarget: Hashable, Sendable {
    /// Memory, up to the maximum response size of the call.
    case memory
    /// A file, chunk by chunk: the call returns and its permit is released when the file is complete.
    case file
    /// The caller, chunk by chunk: the call returns and its permit is released when the head is received. From then on,
    /// only the idle timeout and the caller can end the transfer.
    case stream

    /// Returns how the transport delivers the body.
    func delivery(limit: Int) -> BodyDelivery {
        self == .memory ? .buffered(limit: limit) : .streamed
    }
}

extension HTTPResponse {
    /// Returns a rejected response with the beginning of its body in memory, even if the body is a stream.
    func refused() async -> HTTPResponse {
        guard case .stream(let body) = content else { return self }
        var response = self
        response.content = .data(await body.beginning(upTo: HTTPStatus.refusedBodySize))
        return response
    }
}

extension HTTPResponse.Content {
    /// The body as a stream. A body in memory or in a file is read as a stream, too.
    var stream: IncomingBody {
        get throws {
            switch self {
            case .stream(let body): return body
            case .data(let data): return IncomingBody(data)
            case .file(let url): return IncomingBody(try Data(contentsOf: url, options: .mappedIfSafe))
            }
        }
    }
}
