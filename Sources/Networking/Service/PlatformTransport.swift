/// The engine of the platform.
public enum PlatformTransport {
    /// What carries the requests of services that name no transport, one a process: ``CurlTransport`` on Linux, and
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
