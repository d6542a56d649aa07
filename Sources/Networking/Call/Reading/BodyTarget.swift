import Foundation

/// Where a converter reads the body of a response into.
enum BodyTarget: Hashable, Sendable {
    /// Memory, within the call's maximum size.
    case memory
    /// A file, piece by piece: the call returns and its permit is released when the file is complete.
    case file
    /// The caller, piece by piece: the call returns and its permit is released at the head. From then on only the idle
    /// timeout and the caller end the transfer.
    case stream

    /// How the transport returns the body.
    func delivery(limit: Int) -> BodyDelivery {
        self == .memory ? .buffered(limit: limit) : .streamed
    }
}

extension HTTPResponse {
    /// A refused response with the beginning of its body in memory, whatever was wanted.
    func refused() async -> HTTPResponse {
        guard case .stream(let body) = content else { return self }
        var response = self
        response.content = .data(await body.beginning(upTo: HTTPStatus.refusedBodySize))
        return response
    }
}

extension HTTPResponse.Content {
    /// The body as something that is pulled, wherever it is.
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
