import Testing

@testable import Networking

/// An engine under test. Each conformance test runs on all engines of the platform, unless it concerns one engine.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
    /// libcurl, on Linux.
    case curl
    case urlSessionOnLinux = "urlSession on Linux"
    /// The expectations for this engine are from Apple's documentation: no Apple machine has run them yet.
    case urlSessionOnApple = "urlSession on Apple"

    var testDescription: String { rawValue }

    /// The engines of the platform.
    static var allCases: [Engine] {
        #if os(Linux)
            [.curl, .urlSessionOnLinux]
        #else
            [.urlSessionOnApple]
        #endif
    }

    /// Returns the arguments of a test that concerns one engine. On a platform without this engine, the result is
    /// empty, and the test has no cases.
    static func only(_ engine: Engine) -> [Engine] { allCases.filter { $0 == engine } }

    static var curlOnly: [Engine] { only(.curl) }

    /// `URLSession` on this platform.
    static var urlSession: Engine { allCases.contains(.urlSessionOnLinux) ? .urlSessionOnLinux : .urlSessionOnApple }

    /// The engine that services use by default.
    static var preferred: Engine { allCases[0] }

    /// Returns the transport that all tests of this engine share.
    func shared() throws -> any Transport {
        switch self {
        case .curl:
            #if os(Linux)
                return try #require(CurlTransport.shared, "libcurl is not installed")
            #else
                throw NetworkError(.unknown, reason: "libcurl is not available on this platform")
            #endif
        case .urlSessionOnLinux, .urlSessionOnApple: return URLSessionTransport.shared
        }
    }

    /// Returns a new transport.
    func make() throws -> any Transport {
        switch self {
        case .curl:
            #if os(Linux)
                return try CurlTransport()
            #else
                throw NetworkError(.unknown, reason: "libcurl is not available on this platform")
            #endif
        case .urlSessionOnLinux, .urlSessionOnApple: return try URLSessionTransport()
        }
    }
}

#if os(Linux)
    extension Engine {
        /// Returns the version of the loaded libcurl.
        static func curlVersion() throws -> CurlVersion { try CurlLibrary.loaded.get().number }

        /// Returns whether the loaded libcurl loses HTTP/2 streams, as versions before 7.87 do. The transport then uses
        /// HTTP/2 only if the configuration requires it.
        static func hasLossyHTTP2() throws -> Bool { try CurlLibrary.loaded.get().has(.lossyHTTP2) }
    }
#endif
