extension RequestSettings {
    /// Returns these settings with a condition: the server executes the request only if the resource has not changed
    /// since a response. The request then overwrites no change of another client. If the resource has changed, the
    /// server responds with 412.
    ///
    /// ```swift
    /// let item = try await service.response(ItemEndpoint.fetch(7)) as Response<Item>
    /// try await service.request(ItemEndpoint.replace(7, with: changed), with: .ifUnchanged(since: item.http))
    /// ```
    ///
    /// If the response has a strong `ETag` (RFC 9110 section 13.1.1), the request gets `If-Match` with this tag.
    /// Otherwise, if `Last-Modified` is at least a second before `Date` (section 8.8.2.2), the request gets
    /// `If-Unmodified-Since` with this time. If neither is the case, the request is not sent, and the call ends with
    /// ``NetworkError/Kind/invalidRequest``.
    ///
    /// `CurlTransport` never repeats such a request on its own, because a server that has executed the request refuses
    /// the repetition. On Apple platforms, `URLSession` decides whether it repeats the request. See
    /// ``NetworkRequesting/update(_:as:attempts:with:isolation:_:)`` for reading, changing and writing in one call.
    public func ifUnchanged(since response: HTTPResponse) -> RequestSettings {
        var settings = self
        settings.condition = response.headers.writeCondition
        return settings
    }

    /// Returns settings with a condition: the server executes the request only if the resource has not changed since a
    /// response. See ``ifUnchanged(since:)-swift.method``.
    public static func ifUnchanged(since response: HTTPResponse) -> RequestSettings {
        RequestSettings().ifUnchanged(since: response)
    }
}

extension HTTPHeaders {
    /// The condition field for a write: the server executes the request only if the resource has not changed since the
    /// response that had these fields. A failure contains the reason why no condition can be formed.
    fileprivate var writeCondition: Result<HTTPHeader, NetworkError> {
        if let tag = strongTag { return .success(HTTPHeader(.ifMatch, tag)) }
        if let time = strongTime { return .success(HTTPHeader(.ifUnmodifiedSince, time)) }
        let found = self[.eTag].map { "the ETag \($0)" } ?? self[.lastModified].map { "the Last-Modified \($0)" }
        return .failure(
            NetworkError(
                .invalidRequest,
                reason:
                    "ifUnchanged(since:): expected a response with a strong ETag, or with a Last-Modified at least one second "
                    + "before its Date; found \((found ?? "neither field").onOneLine)"))
    }
}
