package import Foundation

/// The age and the freshness lifetime of a stored response
/// ([RFC 9111 section 4.2](https://www.rfc-editor.org/rfc/rfc9111#section-4.2)), and the rules for its use when it is
/// stale.
package struct CacheFreshness: Sendable {
    /// The time at which the request was sent.
    let requested: Date
    /// The time at which the response was received or last validated.
    let received: Date
    /// The age in seconds at the time ``received``.
    package let initialAge: Int64
    /// The freshness lifetime in seconds.
    package let lifetime: Int64
    /// Whether the server must validate the response before each use (`no-cache`).
    package let needsValidation: Bool
    /// Whether the response does not change while it is fresh. A request with `max-age=0` does not validate such a
    /// response ([RFC 8246](https://www.rfc-editor.org/rfc/rfc8246)).
    package let isImmutable: Bool
    /// Whether the response must not be used when it is stale (`must-revalidate`).
    package let mustRevalidate: Bool
    /// The seconds after the lifetime in which the response may be used while it is validated (RFC 5861 section 3).
    package let staleWhileRevalidate: Int64
    /// The seconds after the lifetime in which the response may be used instead of an error (RFC 5861 section 4).
    package let staleIfError: Int64

    /// Computes the freshness of a response.
    ///
    /// - Parameters:
    ///   - requested: The time at which the request was sent.
    ///   - received: The time at which the response was received.
    ///   - heuristic: The lifetime of a response without explicit freshness, as a fraction of the time between
    ///     `Last-Modified` and `Date`; 0 for no lifetime.
    package init(
        _ status: HTTPStatus, _ headers: HTTPHeaders, requested: Date, received: Date, heuristic: Double
    ) {
        let directives = CacheDirectives(headers)
        let date = headers.date.map(HTTPDate.init) ?? HTTPDate(received)
        (self.requested, self.received) = (requested, received)
        initialAge = CacheFreshness.initialAge(headers, date, requested, received)
        let explicit = CacheFreshness.explicitLifetime(headers, directives, date)
        lifetime =
            explicit
            ?? CacheFreshness.heuristicLifetime(status, headers, directives, date, fraction: heuristic)
        needsValidation = directives.needsValidation
        isImmutable = directives.has("immutable")
        mustRevalidate = directives.has("must-revalidate")
        staleWhileRevalidate = directives.seconds("stale-while-revalidate") ?? 0
        staleIfError = directives.seconds("stale-if-error") ?? 0
    }

    /// Returns the age in seconds (section 4.2.3).
    package func age(at now: Date) -> Int64 {
        // If the clock was set back, the elapsed time is unknown. The difference then counts as elapsed time.
        initialAge + Int64(min(abs(now.timeIntervalSince(received)), 1e12))
    }

    /// The age when the response was received: the larger of two values. The first value is the time since `Date`. The
    /// second value is `Age` plus the duration of the request.
    private static func initialAge(
        _ headers: HTTPHeaders, _ date: HTTPDate, _ requested: Date, _ received: Date
    ) -> Int64 {
        let apparent = max(HTTPDate(received).secondsSince1970 - date.secondsSince1970, 0)
        let first = headers.values(for: .age).first.flatMap { $0.split(separator: ",").first }
        let stated = first.flatMap { CacheDirectives.deltaSeconds($0.trimmingCharacters(in: .whitespaces)) } ?? 0
        let delay = Int64(min(max(received.timeIntervalSince(requested), 0), 1e9))
        return min(max(apparent, stated + delay), Int64(1) << 32)
    }

    /// The lifetime that `max-age` or `Expires` states (section 4.2.1). An `Expires` that is not a date counts as a
    /// date in the past (section 5.3).
    private static func explicitLifetime(
        _ headers: HTTPHeaders, _ directives: CacheDirectives, _ date: HTTPDate
    ) -> Int64? {
        if let seconds = directives.seconds("max-age") { return seconds }
        guard let expires = headers.values(for: .expires).first else { return nil }
        guard let expiry = HTTPDate(expires) else { return 0 }
        return max(expiry.secondsSince1970 - date.secondsSince1970, 0)
    }

    /// The lifetime of a response without explicit freshness (section 4.2.2), at most one week.
    private static func heuristicLifetime(
        _ status: HTTPStatus, _ headers: HTTPHeaders, _ directives: CacheDirectives, _ date: HTTPDate,
        fraction: Double
    ) -> Int64 {
        guard status.isHeuristicallyCacheable || directives.has("public"),
            let modified = headers[.lastModified].flatMap({ HTTPDate($0) })
        else { return 0 }
        let age = Double(max(date.secondsSince1970 - modified.secondsSince1970, 0))
        return Int64(min(age * min(max(fraction, 0), 1), 7 * 86_400))
    }
}

extension HTTPStatus {
    /// Whether a response with this status may be stored without explicit freshness (RFC 9110 section 15.1).
    var isHeuristicallyCacheable: Bool {
        [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(code)
    }
}
