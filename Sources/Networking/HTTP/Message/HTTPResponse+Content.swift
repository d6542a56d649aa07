public import Foundation

extension HTTPResponse {
    /// The location of a response's bytes.
    public enum Content: Sendable {
        /// The complete body, in memory.
        case data(Data)
        /// The complete body, in a file.
        case file(URL)
        /// A body that is still being received.
        case stream(IncomingBody)

        /// Whether the content is not yet in memory, or is larger than the limit.
        func isPending(upTo limit: Int) -> Bool {
            if case .data(let data) = self { data.count > limit } else { true }
        }

        /// Returns the content in memory.
        ///
        /// - Parameter limit: The maximum number of bytes. If the content is longer, the method throws
        ///   ``NetworkError/Kind/responseTooLarge``.
        package func collected(upTo limit: Int) async throws -> HTTPResponse.Content {
            switch self {
            case .data(let data):
                guard data.count <= limit else { throw NetworkError.responseTooLarge(limit: limit) }
                return self
            case .file(let url):
                let size = try url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
                guard size <= limit else { throw NetworkError.responseTooLarge(limit: limit) }
                return .data(try Data(contentsOf: url))
            case .stream(let body):
                return .data(try await body.collect(upTo: limit))
            }
        }
    }
}

extension HTTPResponse {
    /// Returns the response with its content in memory.
    ///
    /// - Throws: The error of reading the content, with the response's head. If the body was already in memory and is
    ///   too large, and the status is not a success, the error also contains the beginning of the body.
    func collected(upTo limit: Int) async throws -> HTTPResponse {
        var response = self
        do { response.content = try await content.collected(upTo: limit) } catch let error as NetworkError {
            var known = withoutStream
            if case .data(let data) = known.content {
                known.content = .data(status.beginning(of: data.prefix(max(limit, 0))))
            }
            throw error.completed(request: request, response: known)
        }
        return response
    }
}

extension HTTPStatus {
    /// The maximum number of bytes that are kept from the body of a rejected response: 1 MiB, which is enough for the
    /// text of an error.
    static let refusedBodySize = 1 << 20

    /// Returns the bytes to keep of a body that is too large: none if the status is a success, otherwise the beginning.
    func beginning(of body: Data) -> Data {
        isSuccessful ? Data() : Data(body.prefix(HTTPStatus.refusedBodySize))
    }
}
