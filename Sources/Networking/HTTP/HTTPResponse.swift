public import Foundation

/// A response message, with the request that it answers.
public struct HTTPResponse: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body.
    public var content: ResponseContent
    /// The request as it was sent; after redirects, the last one.
    public var request: HTTPRequest
    /// When the parts of the exchange were over.
    public var timing: ResponseTiming

    /// The answers that redirected here, the first one first, each with the request that it answered.
    public internal(set) var redirects: [HTTPResponse] = []

    /// Makes a response.
    public init(
        _ status: HTTPStatus, headers: HTTPHeaders = [], content: ResponseContent = .data(Data()),
        to request: HTTPRequest, timing: ResponseTiming = ResponseTiming()
    ) {
        self.status = status
        self.headers = headers
        self.content = content
        self.request = request
        self.timing = timing
    }

    /// The URL that answered; after redirects, the last one.
    public var url: URL { request.url }

    /// The body, where it is in memory; empty where it is in a file or still coming.
    public var data: Data {
        if case .data(let data) = content { data } else { Data() }
    }

    /// A text for the status in the registry's words: `Not Found`.
    public var message: String { status.reasonPhrase }

    /// The response without a body that is still coming: an error that is kept does not keep a connection.
    var withoutStream: HTTPResponse {
        guard case .stream = content else { return self }
        var response = self
        response.content = .data(Data())
        return response
    }
}

extension HTTPResponse: CustomStringConvertible {
    /// Status and request: `404 Not Found to GET api.example.com/users/7`. Neither query, credentials nor body.
    public var description: String { "\(status) to \(request)" }
}
