import Testing

@testable import Networking

/// An engine under test. Every test of the conformance suite runs on each engine of the platform.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
    /// libcurl, on Linux.
    case curl
    case urlSession

    var testDescription: String { rawValue }

    /// The engines of the platform.
    static var allCases: [Engine] {
        #if os(Linux)
            [.curl, .urlSession]
        #else
            [.urlSession]
        #endif
    }

    /// The arguments of tests that concern libcurl alone; empty on other platforms, so that such a test has no cases.
    static var curlOnly: [Engine] { allCases.filter { $0 == .curl } }

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
        case .urlSession: return URLSessionTransport.shared
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
        case .urlSession: return URLSessionTransport()
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
