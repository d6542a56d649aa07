import Foundation

/// How a converter gets the body of a response.
public enum BodyDelivery: Hashable, Sendable {
    /// In memory, complete, within the call's maximum size.
    case memory
    /// Piece by piece, into a file: the call returns, and its permit with it, when the file is complete.
    case file
    /// Piece by piece, to the reader: the call returns, and its permit with it, at the head. From then on only the
    /// idle timeout and the reader end it.
    case stream

    /// When the transport is to return.
    func timing(limit: Int) -> AnswerTiming {
        self == .memory ? .whenComplete(limit: limit) : .atHead
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

extension ResponseContent {
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
