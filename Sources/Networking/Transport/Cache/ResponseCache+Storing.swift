import Foundation

extension ResponseCache {
    /// Updates the stored responses of a URL from a response of the server, and returns the response for the caller.
    ///
    /// - Parameters:
    ///   - stored: The stored response that the cache had for the request before the request was sent.
    ///   - isValidating: Whether the cache added a condition to the request in order to validate `stored`.
    ///   - requested: The time at which the request was sent.
    func receive(
        _ response: HTTPResponse, of exchange: CacheExchange, _ stored: CachedResponse?, _ isValidating: Bool,
        requested: Date
    ) -> HTTPResponse {
        let (asked, received) = (exchange.asked, date())
        let fresh = { [heuristicFreshness] (status: HTTPStatus, headers: HTTPHeaders) in
            CacheFreshness(status, headers, requested: requested, received: received, heuristic: heuristicFreshness)
        }
        if var stored, response.status == .notModified,
            isValidating ? stored.part == nil && stored.isConfirmed(by: response) : stored.isNamed(by: response)
        {
            let mayRemain = stored.refresh(by: response, to: asked, at: received, fresh)
            mayRemain ? exchange.refresh(stored) : exchange.keep(nil)
            guard isValidating || !asked.isSatisfied(by: response) else { return response }
            return stored.response(to: asked, at: received, .revalidated)?.settingCookies(of: response) ?? response
        }
        if asked.request.method == .head {
            guard var stored = stored ?? self.response(to: asked.request), response.status == .ok else {
                return response
            }
            let mayRemain =
                stored.isDescribed(by: response) && stored.refresh(by: response, to: asked, at: received, fresh)
            mayRemain ? exchange.refresh(stored) : exchange.keep(nil)
            return response
        }
        let freshness = fresh(response.status, response.headers)
        let new = CachedResponse(response, to: asked, freshness)
        if response.status == .partialContent {
            guard let new else { return response }
            if var combined = stored, combined.combine(with: new, to: asked, fresh) {
                exchange.keep(combined)
                guard asked.range == nil else { return response }
                return combined.response(to: asked, at: received, .network) ?? response
            }
            if stored == nil || stored?.part != nil { exchange.keep(new) }
            return response
        }
        if case .stream(let body) = response.content, let new, new.isWorthStoring {
            var response = response
            response.content = .stream(storing(body, of: new, exchange))
            return response
        }
        // A response that cannot be stored removes the stored response only if the status is a success, 404 or 410.
        if new != nil || response.status.isSuccessful || [404, 410].contains(response.status.code) {
            exchange.keep(response.content.isStream ? nil : new)
        }
        return response
    }

    /// Returns a body with the same bytes as the given body. When the returned body has been read to the end, the
    /// response is stored with these bytes.
    private func storing(_ body: IncomingBody, of response: CachedResponse, _ exchange: CacheExchange) -> IncomingBody {
        guard let copy = exchange.store.copy(of: response, at: exchange.key) else {
            exchange.keep(nil)  // the stored response is no longer the server's current one
            return body
        }
        return body.pulled { pull in
            let chunk: Data?
            do { chunk = try await pull() } catch {
                copy.abandon()
                throw error
            }
            if let chunk {
                // The stored response is no longer the server's current one.
                if !copy.append(chunk) { exchange.keep(nil) }
                return chunk
            }
            guard !copy.isOver else { return nil }  // a reader may read past the end
            let copied = copy.complete()
            exchange.keep(copied == nil ? nil : response, copied: copied)
            return nil
        }
    }
}

extension HTTPResponse.Content {
    fileprivate var isStream: Bool { if case .stream = self { true } else { false } }
}

extension HTTPResponse {
    /// Returns the response with the cookies that another response sets.
    fileprivate func settingCookies(of other: HTTPResponse) -> HTTPResponse {
        var response = self
        for cookie in other.headers.values(for: .setCookie) { response.headers.append(HTTPHeader(.setCookie, cookie)) }
        return response
    }
}
