import Foundation

extension HTTPHeaders {
    /// `User-Agent` with the program's name and the system, and `Accept-Language` with the user's preferred languages.
    public static let standard: HTTPHeaders = [
        HTTPHeader(.userAgent, "\(programName) (\(OperatingSystem.name) \(OperatingSystem.version)) Networking"),
        .acceptLanguage(Locale.preferredLanguages.isEmpty ? ["en"] : Locale.preferredLanguages),
    ]

    /// The name of the program as a product token, without the characters that RFC 9110 section 10.1.5 does not allow.
    private static var programName: String {
        let name = ProcessInfo.processInfo.processName.utf8.filter(HTTPGrammar.isTokenByte)
        return name.isEmpty ? "Program" : String(decoding: name, as: UTF8.self)
    }
}

extension HTTPHeader {
    /// Returns a `User-Agent` field (RFC 9110 section 10.1.5) with a product and the system: `Shop/3.1 (iOS 17.4.1)`.
    ///
    /// - Parameters:
    ///   - product: The name of the app.
    ///   - version: The version of the app.
    public static func userAgent(product: String, version: String) -> HTTPHeader {
        HTTPHeader(.userAgent, "\(product)/\(version) (\(OperatingSystem.name) \(OperatingSystem.version))")
    }
}

/// The system that the library was built for, with the names that `User-Agent` fields use.
enum OperatingSystem {
    /// `Linux`, `macOS`, `iOS`, `tvOS`, `watchOS` or `visionOS`.
    static var name: String {
        #if os(macOS)
            "macOS"
        #elseif os(iOS)
            "iOS"
        #elseif os(tvOS)
            "tvOS"
        #elseif os(watchOS)
            "watchOS"
        #elseif os(visionOS)
            "visionOS"
        #else
            "Linux"
        #endif
    }

    /// The version of the running system, such as `17.4.1`.
    static var version: String {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
    }
}
