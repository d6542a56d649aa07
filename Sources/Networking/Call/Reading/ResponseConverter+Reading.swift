import Foundation

extension ResponseConverter {
    typealias Buffered<Result> = @Sendable (HTTPResponse, any BodyDecoder, JSONValue.Path?) throws -> Result
    typealias Streamed<Result> = @Sendable (HTTPResponse, IncomingBody, any BodyDecoder) async throws -> Result

    /// How a converter reads a response. This value contains all that a call needs to read its response, and is cheaper
    /// to copy than the converter.
    enum Reading: Sendable {
        /// Reads a body in memory. If `readsPaths` is true, the closure can also read the value at a path in the JSON
        /// of the body. Otherwise, the path that the closure gets is always nil.
        case buffered(Buffered<Value>, readsPaths: Bool)
        case streamed(Streamed<Value>)

        /// Reads a response: see ``ResponseConverter/convert(_:decoder:)``.
        func convert(_ response: HTTPResponse, decoder: any BodyDecoder) async throws -> Value {
            // Most bodies are small, and need neither a closure nor another asynchronous function.
            if !LargeBody.isLarge(response.data), let value = try convertNow(response, decoder) { return value }
            do {
                switch self {
                case .buffered(let read, _):
                    return try await LargeBody.reading(response.data, upTo: response.maximumValues) { _ in
                        try read(response, decoder, nil)
                    }
                case .streamed(let read): return try await read(response, try response.content.stream, decoder)
                }
            } catch { throw explained(error, response) }
        }

        /// Reads a response that is in memory, without waiting; nil for a converter that reads a stream.
        func convertNow(_ response: HTTPResponse, _ decoder: any BodyDecoder) throws -> Value? {
            guard case .buffered(let read, _) = self else { return nil }
            do { return try read(response, decoder, nil) } catch { throw explained(error, response) }
        }

        /// Returns the error with which the call ends if the closure throws `error`.
        func explained(_ error: any Error, _ response: HTTPResponse) -> any Error {
            switch error {
            case let known as NetworkError: known.completed(request: response.request, response: response.withoutStream)
            case is DecodingError, is EncodingError, is UndecodableBody:
                NetworkError(
                    .undecodableBody,
                    reason: UndecodableBody.describe(
                        error, reading: Value.self, from: response.withoutStream.data, response.headers.contentType),
                    request: response.request, response: response.withoutStream,
                    underlying: (error as? UndecodableBody)?.cause ?? error)
            default: error
            }
        }
    }
}
