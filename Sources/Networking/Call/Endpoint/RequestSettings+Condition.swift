extension RequestSettings {
    /// Returns these settings for a request that the server executes only if the resource has not changed since a
    /// response. The request then overwrites no change of another client. If the resource has changed, the server
    /// responds with 412.
    ///
    /// ```swift
    /// let item = try await service.response(ItemEndpoint.fetch(7)) as Response<Item>
    /// try await service.request(ItemEndpoint.replace(7, with: changed), with: .ifUnchanged(since: item.http))
    /// ```
    ///
    /// The request gets `If-Match` with the response's `ETag`, if the tag is strong (RFC 9110 section 13.1.1), or
    /// `If-Unmodified-Since` with its `Last-Modified`, if this time is at least a second before `Date` (section
    /// 8.8.2.2). If the response has neither, the request is not sent, and the call ends with
    /// ``NetworkError/Kind/invalidRequest``.
    ///
    /// `CurlTransport` never repeats such a request on its own: after the first request was executed, the server would
    /// refuse the second one. On Apple platforms, `URLSession` decides whether it repeats the request. See
    /// ``NetworkRequesting/update(_:as:attempts:with:isolation:_:)`` for reading, changing and writing in one call.
    public func ifUnchanged(since response: HTTPResponse) -> RequestSettings {
        var settings = self
        settings.condition = response.headers.writeCondition
        return settings
    }

    /// Returns settings for a request that the server executes only if the resource has not changed since a response:
    /// see ``ifUnchanged(since:)-swift.method``.
    public static func ifUnchanged(since response: HTTPResponse) -> RequestSettings {
        RequestSettings().ifUnchanged(since: response)
    }
}

extension HTTPHeaders {
    /// The condition of a request that must be executed only if the resource has not changed since the response with
    /// these fields, or the reason why there is no condition.
    fileprivate var writeCondition: Result<HTTPHeader, NetworkError> {
        if let tag = strongTag { return .success(HTTPHeader(.ifMatch, tag)) }
        if let time = strongTime { return .success(HTTPHeader(.ifUnmodifiedSince, time)) }
        let found = self[.eTag].map { "the ETag \($0)" } ?? self[.lastModified].map { "the Last-Modified \($0)" }
        return .failure(
            NetworkError(
                .invalidRequest,
                reason:
                    "ifUnchanged(since:): expected a response with a strong ETag, or a Last-Modified a second before "
                    + "its Date; found \((found ?? "neither").onOneLine)"))
    }
}
