import Foundation

/// Fills in what every client should say and an endpoint seldom does: `User-Agent` and `Accept-Language`, where they
/// are absent.
public struct DefaultHeadersAdapter: SynchronousRequestAdapter {
    private let headers: HTTPHeaders

    /// Makes an adapter.
    ///
    /// - Parameter headers: The fields to fill in where they are absent.
    public init(_ headers: HTTPHeaders = .standard) {
        self.headers = headers
    }

    /// Adds each field whose name the request does not have.
    public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        for field in headers where !request.headers.contains(field.name) { request.headers.append(field) }
    }
}

extension HTTPHeaders {
    /// `User-Agent` with the program's name and the system, and `Accept-Language` with the user's preferred languages.
    public static let standard: HTTPHeaders = [
        HTTPHeader(.userAgent, "\(programName) (\(OperatingSystem.name) \(OperatingSystem.version)) Networking"),
        .acceptLanguage(Locale.preferredLanguages.isEmpty ? ["en"] : Locale.preferredLanguages),
    ]

    /// The program's name as a product token: RFC 9110 section 10.1.5 allows no other character.
    private static var programName: String {
        let name = ProcessInfo.processInfo.processName.utf8.filter(HTTPGrammar.isTokenByte)
        return name.isEmpty ? "Program" : String(decoding: name, as: UTF8.self)
    }
}

/// Puts header fields on every request.
public struct HeadersAdapter: SynchronousRequestAdapter {
    private let headers: HTTPHeaders
    private let rule: HTTPHeaders.MergeRule

    /// Makes an adapter.
    ///
    /// - Parameters:
    ///   - headers: The fields.
    ///   - rule: What happens on equal names. Default: the adapter's fields win.
    public init(_ headers: HTTPHeaders, _ rule: HTTPHeaders.MergeRule = .newWins) {
        self.headers = headers
        self.rule = rule
    }

    /// Merges the fields into those of the request.
    public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        request.headers.merge(headers, rule)
    }
}
