/// Says which app this is: `MyApp/3.1 (iOS 17.4.1)`. It wins over what is there.
public struct UserAgentAdapter: SynchronousRequestAdapter {
    private let value: String

    /// Makes an adapter.
    ///
    /// - Parameters:
    ///   - product: The app's name.
    ///   - version: The app's version.
    public init(product: String, version: String) {
        value = "\(product)/\(version) (\(OperatingSystem.name) \(OperatingSystem.version))"
    }

    /// Sets `User-Agent`.
    public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        request.headers[.userAgent] = value
    }
}

extension HTTPHeader {
    /// `User-Agent` (RFC 9110 section 10.1.5) in the form `iOS 17.4 version 3.1`.
    ///
    /// - Parameters:
    ///   - osName: The system's name; by default that of the system this was built for.
    ///   - osVersion: The system's version.
    ///   - appVersion: The app's version.
    public static func userAgent(
        osName: String = OperatingSystem.name, osVersion: String, appVersion: String
    ) -> HTTPHeader {
        HTTPHeader(.userAgent, "\(osName) \(osVersion) version \(appVersion)")
    }
}
