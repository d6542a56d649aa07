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

/// The part of a converter that does not depend on the type of its value: the destination of the body, and the header
/// fields of the request. The pipeline knows only this part, so that its code is not generic.
struct ConverterRequirements: Sendable {
    /// The destination of the body.
    let target: BodyTarget
    /// The file of a download; nil for other converters. Its own allocation keeps this value small, which is copied for
    /// each call.
    var download: CopyOnWrite<FileDestination>?
    /// The header fields that are added to the request if it has no field of the same name.
    var defaultHeaders: HTTPHeaders = []
    /// The header fields that replace those of the request.
    var overridingHeaders: HTTPHeaders = []

    /// Whether the converter may keep the response that it reads. If so, it gets the response outside of its call.
    /// False for the converters of the library that only read the body.
    var keepsResponse = true

    /// Whether the converter is a download, which can be paused and resumed.
    var isDownload: Bool { download != nil }

    /// Applies the header fields of the converter to a request.
    func applyHeaders(to request: inout HTTPRequest) {
        for field in overridingHeaders { request.headers.set(field) }
        for field in defaultHeaders where !request.headers.contains(field.name) {
            request.headers.append(field.from(.converter))
        }
    }
}
