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
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard !text.isEmpty, text.utf8.allSatisfy({ digits.contains($0) }) else { return nil }
        return Int64(text) ?? .max
    }
}
