import Foundation
import Networking

/// The header fields of a stored response as values, and the freshness that RFC 9111 defines for them.
struct StoredFields: Sendable {
    /// A number of seconds in a directive or a field.
    enum Seconds: Equatable, Sendable {
        case none, malformed
        case some(Int64)

        /// The text in the response; nil if the directive or the field is absent.
        var text: String? {
            switch self {
            case .none: nil
            case .malformed: "soon"
            case .some(let seconds): "\(seconds)"
            }
        }

        /// The value: a malformed number counts as zero, so that the response is stale (section 4.2.1).
        var value: Int64? {
            switch self {
            case .none: nil
            case .malformed: 0
            case .some(let seconds): seconds
            }
        }
    }

    enum NoCache: CaseIterable, Sendable {
        case none, bare, named
    }

    var status = HTTPStatus.ok
    var maxAge = Seconds.none
    /// The seconds from `Date` to `Expires`.
    var expires = Seconds.none
    /// The seconds from `Date` to the reception; nil if the response has no `Date`.
    var dateAge: Int64?
    var age = Seconds.none
    /// The seconds from the request to the response.
    var delay: Int64 = 0
    /// The seconds from `Last-Modified` to `Date`.
    var modifiedBefore: Int64?
    var noCache = NoCache.none
    var mustRevalidate = false
    var isPublic = false
    var staleWhileRevalidate = Seconds.none
    var staleIfError = Seconds.none

    /// The freshness lifetime (section 4.2.1). The fields are read in the order of precedence. A private cache ignores
    /// `s-maxage`.
    var lifetime: Int64 {
        if let seconds = maxAge.value { return seconds }
        if let seconds = expires.value { return max(seconds, 0) }
        guard isHeuristic, let modifiedBefore else { return 0 }
        return min(max(modifiedBefore, 0) / 10, 7 * 86_400)
    }

    /// Whether the lifetime may be heuristic (section 4.2.2): the response is `public`, or its status is cacheable by
    /// default (RFC 9110 section 15.1).
    private var isHeuristic: Bool {
        isPublic || [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status.code)
    }

    /// The initial age (section 4.2.3): corrected_initial_age, the larger of apparent_age and corrected_age_value.
    var initialAge: Int64 { max(max(dateAge ?? 0, 0), (age.value ?? 0) + delay) }

    static let received = Date(timeIntervalSince1970: 1_700_000_000)

    /// The fields as a server could write them. Each style separates and spells the directives differently.
    func headers(style: Int) -> HTTPHeaders {
        var directives = style % 2 == 0 ? ["s-maxage=1"] : ["unknown=\"a, no-cache\""]
        if let text = maxAge.text { directives.append(style % 2 == 0 ? "max-age=\(text)" : "Max-Age=\"\(text)\"") }
        switch noCache {
        case .none: break
        case .bare: directives.append(style % 2 == 0 ? "no-cache" : "NO-CACHE")
        case .named: directives.append("no-cache=\"Set-Cookie\"")
        }
        if mustRevalidate { directives.append("must-revalidate") }
        if isPublic { directives.append("public") }
        if let text = staleWhileRevalidate.text { directives.append("stale-while-revalidate=\(text)") }
        if let text = staleIfError.text { directives.append("stale-if-error=\(text)") }
        var headers = HTTPHeaders()
        if style < 2 {
            headers.append(HTTPHeader(.cacheControl, directives.joined(separator: style == 0 ? ", " : " ,")))
        } else {
            for directive in directives { headers.append(HTTPHeader(.cacheControl, directive)) }
        }
        let date = StoredFields.received - Double(dateAge ?? 0)
        if dateAge != nil { headers[.date] = StoredFields.text(date) }
        switch expires {
        case .none: break
        case .malformed: headers[.expires] = "0"
        case .some(let seconds): headers[.expires] = StoredFields.text(date + Double(seconds))
        }
        if let modifiedBefore { headers[.lastModified] = StoredFields.text(date - Double(modifiedBefore)) }
        if let text = age.text { headers[.age] = text }
        return headers
    }

    /// The date in the preferred format (RFC 9110 section 5.6.7).
    private static func text(_ date: Date) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: date)
    }

    func freshness(style: Int) -> CacheFreshness {
        CacheFreshness(
            status, headers(style: style), requested: StoredFields.received - Double(delay),
            received: StoredFields.received, heuristic: 0.1)
    }
}
