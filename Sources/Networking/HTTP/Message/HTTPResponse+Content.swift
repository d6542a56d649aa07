public import Foundation

extension HTTPResponse {
    /// Where the bytes of a response are.
    public enum Content: Sendable {
        /// In memory, complete.
        case data(Data)
        /// In a file, complete.
        case file(URL)
        /// Still coming.
        case stream(IncomingBody)

        /// Whether there is something to do to have the content in memory, within the limit.
        func isPending(upTo limit: Int) -> Bool {
            if case .data(let data) = self { data.count > limit } else { true }
        }

        /// The content brought into memory.
        ///
        /// - Parameter limit: The most bytes to take; one more throws ``NetworkError/Kind/responseTooLarge``.
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
    /// The response with its content in memory.
    ///
    /// - Throws: What cannot be had, with the response's head, and the beginning of a body that is there but too large.
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
    /// How much of the body of a rejected response is kept: enough to read an error.
    static let refusedBodySize = 1 << 20

    /// What is kept of a body that was too large: of an error's page the beginning, of a response nothing.
    func beginning(of body: Data) -> Data {
        isSuccessful ? Data() : Data(body.prefix(HTTPStatus.refusedBodySize))
    }
}
