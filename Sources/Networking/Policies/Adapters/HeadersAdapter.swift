/// Puts header fields on every request.
public struct HeadersAdapter: SynchronousRequestAdapter {
    private let headers: HTTPHeaders
    private let rule: HTTPHeaders.MergeRule

    /// Makes an adapter.
    ///
    /// - Parameters:
    ///   - headers: The fields.
    ///   - rule: What happens on equal names; the adapter's fields win unless said otherwise.
    public init(_ headers: HTTPHeaders, _ rule: HTTPHeaders.MergeRule = .newWins) {
        self.headers = headers
        self.rule = rule
    }

    /// Merges the fields into those of the request.
    public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        request.headers.merge(headers, rule)
    }
}
