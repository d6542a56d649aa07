import Foundation

extension Response {
    /// The pages of a list. Each page is one call, which is made when the page is requested.
    ///
    /// ```swift
    /// for try await issues in service.pages(.get("issues").authorized(), as: .json([Issue].self)) { show(issues) }
    /// ```
    ///
    /// The sequence ends after the last page, or with the error of a call. Each iteration begins with the first page.
    public struct Pages: AsyncSequence, Sendable {
        /// A page that has not been requested yet.
        fileprivate struct Page: Sendable {
            /// Returns the value of this page, and the next page. The next page is nil after the last page.
            let load: @Sendable () async throws -> (Value, Page?)
        }

        fileprivate let first: Page

        /// Creates an iterator that begins with the first page.
        public func makeAsyncIterator() -> Iterator { Iterator(next: first) }

        /// An iterator that requests one page after another.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var next: Page?

            /// Requests the next page, and returns its value. Returns nil after the last page, and after an error.
            public mutating func next() async throws -> Value? {
                guard let page = next else { return nil }
                next = nil
                let (value, following) = try await page.load()
                next = following
                return value
            }
        }
    }
}

extension NetworkRequesting {
    /// Returns the pages of a list whose responses link to the next page (`Link: <…>; rel="next"`, [RFC
    /// 8288](https://www.rfc-editor.org/rfc/rfc8288)).
    ///
    /// Each page is requested by the same call with another URL. The authorization, settings, header fields and errors
    /// stay the same; the query is the query of the link. The sequence ends with ``NetworkError/Kind/invalidResponse``
    /// if a page links to itself or to another origin, or if a page comes from another origin. This rule exists because
    /// a response must not choose the server that receives the call. For a list across several origins, use
    /// ``pages(_:as:with:next:)``.
    ///
    /// - Parameters:
    ///   - first: The call of the first page.
    ///   - converter: The converter that reads a page.
    ///   - settings: The settings of each of the calls. Default: no changes.
    public func pages<Value: Sendable>(
        _ first: some Endpoint, as converter: ResponseConverter<Value>,
        with settings: RequestSettings = RequestSettings()
    ) -> Response<Value>.Pages {
        .init(first: .linked(settings) { try await response(first, as: converter, with: $0) })
    }

    /// Returns the pages of a list whose responses link to the next page: see ``pages(_:as:with:)``.
    public func pages<Call: TypedEndpoint>(
        _ first: Call, with settings: RequestSettings = RequestSettings()
    ) -> Response<Call.ResponseValue>.Pages {
        .init(first: .linked(settings) { try await response(first, with: $0) })
    }

    /// Returns the pages of a list. A closure creates the call of the next page, for example from a cursor in the page.
    ///
    /// ```swift
    /// let pages = service.pages(.get("orders"), as: .json(Orders.self)) { page, call in
    ///     page.value.cursor.map { call.query("cursor", $0) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - first: The call of the first page.
    ///   - converter: The converter that reads a page.
    ///   - settings: The settings of each of the calls. Default: no changes.
    ///   - next: Receives a page with its response, and the call that has requested the page. Returns the call of the
    ///     next page; nil after the last page. An error that the closure throws ends the sequence.
    public func pages<Call: Endpoint, Value: Sendable>(
        _ first: Call, as converter: ResponseConverter<Value>, with settings: RequestSettings = RequestSettings(),
        next: @escaping @Sendable (_ page: Response<Value>, _ call: Call) throws -> Call?
    ) -> Response<Value>.Pages {
        .init(first: .made(first, next) { try await response($0, as: converter, with: settings) })
    }

    /// Returns the pages of a list. A closure creates the call of the next page: see ``pages(_:as:with:next:)``.
    public func pages<Call: TypedEndpoint>(
        _ first: Call, with settings: RequestSettings = RequestSettings(),
        next: @escaping @Sendable (_ page: Response<Call.ResponseValue>, _ call: Call) throws -> Call?
    ) -> Response<Call.ResponseValue>.Pages {
        .init(first: .made(first, next) { try await response($0, with: settings) })
    }
}

extension Response.Pages.Page {
    /// Returns the page whose URL is in the settings, and the pages after it. Each page links to the next page.
    fileprivate static func linked(
        _ settings: RequestSettings, _ request: @escaping @Sendable (RequestSettings) async throws -> Response<Value>
    ) -> Self {
        Self {
            let page = try await request(settings)
            guard let next = page.http.link("next") else { return (page.value, nil) }
            let home = page.http.redirects.first?.request.origin ?? page.http.request.origin
            let others = [page.http.request.origin, HTTPOrigin(next)].filter { $0 != home }
            let fault =
                next == page.http.request.url
                ? "found a link to the page itself" : others.isEmpty ? nil : "found a link to another origin"
            if let fault {
                let error = NetworkError(
                    .invalidResponse, reason: "Link: expected the next page, \(fault)",
                    request: page.http.request, response: page.http)
                return (page.value, Self { throw error })
            }
            var settings = settings
            settings.address = next
            return (page.value, .linked(settings, request))
        }
    }

    /// Returns the page of a call, and the pages after it. A closure creates the call of each next page.
    fileprivate static func made<Call: Sendable>(
        _ call: Call, _ next: @escaping @Sendable (Response<Value>, Call) throws -> Call?,
        _ request: @escaping @Sendable (Call) async throws -> Response<Value>
    ) -> Self {
        Self {
            let page = try await request(call)
            return (page.value, try next(page, call).map { .made($0, next, request) })
        }
    }
}
