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
    /// For how many seconds after its lifetime the response may be used while it is validated (RFC 5861 section 3).
    package let staleWhileRevalidate: Int64
    /// For how many seconds after its lifetime the response may be used instead of an error (RFC 5861 section 4).
    package let staleIfError: Int64

    /// Computes the freshness of a response.
    ///
    /// - Parameters:
    ///   - requested: The time at which the request was sent.
    ///   - received: The time at which the response was received.
    ///   - heuristic: The lifetime of a response without explicit freshness, as a fraction of the time between
    ///     `Last-Modified` and `Date`; 0 for no lifetime.
    package init(_ status: HTTPStatus, _ headers: HTTPHeaders, requested: Date, received: Date, heuristic: Double) {
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
        // If the clock has been set back, the elapsed time is unknown. The absolute difference between the two times is
        // then used instead.
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
        _ status: HTTPStatus, _ headers: HTTPHeaders, _ directives: CacheDirectives, _ date: HTTPDate, fraction: Double
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

/// The directives of the `Cache-Control` fields of a message,
/// [RFC 9111 section 5.2](https://www.rfc-editor.org/rfc/rfc9111#section-5.2).
///
/// If a directive occurs several times, the first one applies (section 4.2.1).
struct CacheDirectives: Sendable {
    private struct Directive: Sendable {
        let name: String
        /// Nil if the directive has no argument; empty if its argument is malformed.
        let argument: String?
        /// The header fields that the argument names.
        var fields: [HTTPHeader.Name] {
            (argument ?? "").split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
                .filter { !$0.isEmpty }.map { HTTPHeader.Name(String($0)) }
        }
    }

    private var directives: [Directive] = []

    /// Reads the directives of a message.
    init(_ headers: HTTPHeaders) {
        for value in headers.values(for: .cacheControl) { read(value) }
    }

    /// Reads the directives of a request; nil if it has none. `Pragma: no-cache` means `no-cache` in a request without
    /// `Cache-Control` (section 5.4).
    init?(request headers: HTTPHeaders) {
        self.init(headers)
        if headers.contains(.cacheControl) { return }
        guard headers[.pragma]?.lowercased().contains("no-cache") == true else { return nil }
        directives = [Directive(name: "no-cache", argument: nil)]
    }

    private mutating func read(_ value: String) {
        var scanner = HTTPFieldScanner(value)
        while !scanner.isAtEnd {
            scanner.skipBlanks()
            if let name = scanner.token()?.lowercased() {
                var argument = scanner.skip("=") ? scanner.quotedString() ?? scanner.token() ?? "" : nil
                scanner.skipBlanks()
                if let next = scanner.next, next != UInt8(ascii: ","), next != UInt8(ascii: ";") { argument = "" }
                directives.append(Directive(name: name, argument: argument))
            }
            // The grammar permits only commas between directives, but some servers use semicolons.
            _ = scanner.text { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ";") }
            _ = scanner.skip(",") || scanner.skip(";")
        }
    }

    /// Returns whether a directive is present, with or without an argument.
    func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// Returns the seconds of a directive; nil if it is absent. A malformed number counts as zero, so that the response
    /// is stale (section 4.2.1).
    func seconds(_ name: String) -> Int64? {
        guard let directive = directives.first(where: { $0.name == name }) else { return nil }
        return directive.argument.flatMap(CacheDirectives.deltaSeconds) ?? 0
    }

    /// Returns whether a directive is present without an argument.
    func hasBare(_ name: String) -> Bool { directives.contains { $0.name == name && $0.argument == nil } }

    /// Returns the header fields in the arguments of a directive, such as `no-cache="Set-Cookie"`.
    func fields(_ name: String) -> [HTTPHeader.Name] {
        directives.filter { $0.name == name }.flatMap { $0.fields }
    }

    /// Whether a response must be validated before each use, because it has `no-cache` without names of fields (section
    /// 5.2.2.4).
    var needsValidation: Bool { directives.contains { $0.name == "no-cache" && $0.fields.isEmpty } }

    /// Whether a response with the given status must not be stored. If the response has `must-understand`, only the
    /// status decides, because `no-store` is then meant for caches that do not know `must-understand` (section
    /// 5.2.2.3).
    func forbidStoring(_ status: HTTPStatus) -> Bool {
        guard has("must-understand") else { return has("no-store") }
        return !(200...206).contains(status.code) && !status.isHeuristicallyCacheable
    }

    /// Parses delta-seconds (section 1.2.2): digits only. Numbers above 2³¹ count as 2³¹.
    static func deltaSeconds(_ text: some StringProtocol) -> Int64? {
        number(text).map { min($0, Int64(1) << 31) }
    }

    /// Parses a number that consists of digits only. A number that does not fit counts as `Int64.max`.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy(HTTPGrammar.isDigit) else { return nil }
        return Int64(text) ?? .max
    }
}
