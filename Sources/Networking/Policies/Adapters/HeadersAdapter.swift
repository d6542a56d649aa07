import Foundation

/// Sets header fields on every request.
///
/// ```swift
/// $0.requestAdaptingService = RequestAdaptingService([
///     HeadersAdapter(.standard, .keepExisting),           // the default of a service
///     HeadersAdapter(["X-Client": "ios"]),
/// ])
/// ```
public struct HeadersAdapter: SynchronousRequestAdapter {
    private let headers: HTTPHeaders
    private let rule: HTTPHeaders.MergeRule

    /// Makes an adapter.
    ///
    /// - Parameters:
    ///   - headers: The fields.
    ///   - rule: What happens on equal names. Default: the adapter's fields win.
    public init(_ headers: HTTPHeaders, _ rule: HTTPHeaders.MergeRule = .overwrite) {
        self.headers = headers
        self.rule = rule
    }

    /// Merges the fields into those of the request.
    public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        request.headers.merge(headers, rule)
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

extension HTTPHeader {
    /// `User-Agent` (RFC 9110 section 10.1.5) with a product and the system: `Shop/3.1 (iOS 17.4.1)`.
    ///
    /// - Parameters:
    ///   - product: The app's name.
    ///   - version: The app's version.
    public static func userAgent(product: String, version: String) -> HTTPHeader {
        HTTPHeader(.userAgent, "\(product)/\(version) (\(OperatingSystem.name) \(OperatingSystem.version))")
    }
}
