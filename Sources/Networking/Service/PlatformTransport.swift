public import Foundation

/// The default transport of the platform.
public enum PlatformTransport {
    /// The transport of services that set none, shared by the whole process. It is ``URLSessionTransport`` on Apple
    /// platforms and `CurlTransport` on Linux. If Linux has no libcurl, or a libcurl older than 7.68, it is
    /// ``URLSessionTransport`` there, too.
    public static let shared: any Transport = {
        #if os(Linux)
            choose(CurlTransport.shared)
        #else
            URLSessionTransport.shared
        #endif
    }()

    #if os(Linux)
        /// Returns the libcurl transport if libcurl is available, otherwise the URLSession transport.
        static func choose(_ curl: CurlTransport?) -> any Transport {
            curl ?? URLSessionTransport.shared
        }
    #endif
}

extension HTTPProbe {
    /// Creates a probe that uses the default transport of the platform.
    ///
    /// - Parameters:
    ///   - url: The URL to request, with GET.
    ///   - expected: The status that only the right server returns. Default: 204.
    ///   - timeout: The timeout for connecting, and also the idle timeout. Default: 5 seconds.
    public init(url: URL, expecting expected: HTTPStatus = .noContent, timeout: Duration = .seconds(5)) {
        self.init(url: url, expecting: expected, timeout: timeout, transport: PlatformTransport.shared)
    }
}
