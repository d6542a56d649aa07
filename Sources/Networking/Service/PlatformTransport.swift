public import Foundation

/// The engine of the platform.
public enum PlatformTransport {
    /// What carries the requests of services that name no transport, one a process: `CurlTransport` on Linux, and
    /// ``URLSessionTransport`` on Apple platforms and where Linux has no libcurl, or one older than 7.68.
    public static let shared: any Transport = {
        #if os(Linux)
            choose(CurlTransport.shared)
        #else
            URLSessionTransport.shared
        #endif
    }()

    #if os(Linux)
        /// Libcurl where it can be had, else URLSession.
        static func choose(_ curl: CurlTransport?) -> any Transport {
            curl ?? URLSessionTransport.shared
        }
    #endif
}

extension HTTPProbe {
    /// Makes a probe that uses the platform's transport.
    ///
    /// - Parameters:
    ///   - url: What to ask for, with GET.
    ///   - expected: The status that only the right server returns. Default: 204.
    ///   - timeout: The timeout for connecting, and the idle timeout. Default: 5 seconds.
    public init(url: URL, expecting expected: HTTPStatus = .noContent, timeout: Duration = .seconds(5)) {
        self.init(url: url, expecting: expected, timeout: timeout, transport: PlatformTransport.shared)
    }
}
