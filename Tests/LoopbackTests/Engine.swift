import Testing

@testable import Networking

/// An engine under test. Every test of the conformance suite runs on each of them.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
    case curl
    case urlSession

    var testDescription: String { rawValue }

    /// The version of the libcurl that is loaded.
    static func curlVersion() throws -> CurlVersion { try CurlLibrary.loaded.get().number }

    /// Whether the libcurl that is loaded does not use HTTP/2 unless it has to: stated for versions before 7.87.
    static func hasLossyHTTP2() throws -> Bool { try CurlLibrary.loaded.get().has(.lossyHTTP2) }

    /// The engine that the suite shares.
    func shared() throws -> any Transport {
        switch self {
        case .curl: try #require(CurlTransport.shared, "there is no libcurl")
        case .urlSession: URLSessionTransport.shared
        }
    }

    /// One of its own.
    func make() throws -> any Transport {
        switch self {
        case .curl: try CurlTransport()
        case .urlSession: URLSessionTransport()
        }
    }
}
