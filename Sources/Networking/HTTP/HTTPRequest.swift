public import Foundation

/// A request message: what an endpoint becomes, what adapters change, what a transport carries.
public struct HTTPRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// Where it goes: an absolute `http` or `https` URL.
    public var url: URL
    /// The header fields. Those that describe the body are added from it where none of their name is here.
    public var headers: HTTPHeaders
    /// The body.
    public var body: HTTPBody
    /// How long the attempt may take. The total is the call's business; a transport ignores it.
    public var timeouts: RequestTimeouts
    /// The typed options.
    public var options: RequestOptions

    /// Makes a request.
    public init(
        _ method: HTTPMethod = .get, _ url: URL, headers: HTTPHeaders = [], body: HTTPBody = .empty,
        timeouts: RequestTimeouts = RequestTimeouts()
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeouts = timeouts
        self.options = RequestOptions()
    }

    /// The setting of a typed option.
    public subscript<Option: RequestOption>(option option: Option.Type) -> Option.Value {
        get { options[option] }
        set { options[option] = newValue }
    }

    /// The header fields as they are sent: those set, then those of the body whose names are not among them.
    public var allHeaders: HTTPHeaders {
        body.headers.isEmpty ? headers : headers.merging(body.headers, .oldWins)
    }
}

extension HTTPRequest: CustomStringConvertible {
    /// Method, host and path: `GET api.example.com/users/7`. Neither query nor credentials.
    public var description: String {
        let port = url.port.map { ":\($0)" } ?? ""
        return "\(method) \(url.host ?? "")\(port)\(url.path(percentEncoded: true))"
    }
}
