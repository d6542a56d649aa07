import Testing

@testable import Networking

/// An engine under test. Every test of the conformance suite runs on each engine of the platform.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
    /// libcurl, on Linux.
    case curl
    case urlSessionOnLinux = "urlSession on Linux"
    /// Its expectations are from Apple's documentation: no Apple machine has run them yet.
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

    /// The arguments of tests that concern one engine; empty on other platforms, so that such a test has no cases.
    static func only(_ engine: Engine) -> [Engine] { allCases.filter { $0 == engine } }

    static var curlOnly: [Engine] { only(.curl) }

    /// `URLSession` on this platform.
    static var urlSession: Engine { allCases.contains(.urlSessionOnLinux) ? .urlSessionOnLinux : .urlSessionOnApple }

    /// The engine that services use by default.
    static var preferred: Engine { allCases[0] }

    /// A transport that the suite shares.
    func shared() throws -> any Transport {
        switch self {
        case .curl:
            #if os(Linux)
                return try #require(CurlTransport.shared, "there is no libcurl")
            #else
                throw NetworkError(.unknown, reason: "there is no libcurl on this platform")
            #endif
        case .urlSessionOnLinux, .urlSessionOnApple: return URLSessionTransport.shared
        }
    }

    /// A new transport.
    func make() throws -> any Transport {
        switch self {
        case .curl:
            #if os(Linux)
                return try CurlTransport()
            #else
                throw NetworkError(.unknown, reason: "there is no libcurl on this platform")
            #endif
        case .urlSessionOnLinux, .urlSessionOnApple: return try URLSessionTransport()
        }
    }
}

#if os(Linux)
    extension Engine {
        /// The version of the libcurl that is loaded.
        static func curlVersion() throws -> CurlVersion { try CurlLibrary.loaded.get().number }

        /// Whether the libcurl that is loaded does not use HTTP/2 unless it has to: stated for versions before 7.87.
        static func hasLossyHTTP2() throws -> Bool { try CurlLibrary.loaded.get().has(.lossyHTTP2) }
    }
#endif
