#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension URLSessionConfiguration {
    /// An ephemeral configuration without the policies that the library itself implements: no cache, no cookies, no
    /// stored credentials, and up to 512 connections to a host, because the library has its own limits. The
    /// configuration requires TLS 1.2 or later, except on Linux, where Foundation has no such setting.
    public static var withoutPolicy: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.httpMaximumConnectionsPerHost = 512
        configuration.require(.v1_2)
        return configuration
    }
}
