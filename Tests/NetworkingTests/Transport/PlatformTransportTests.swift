import Foundation
import Testing

@testable import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Platform transport", .endsInTime)
struct PlatformTransportTests {
    @Test("A session whose fields of all requests have credentials is refused, and other fields are accepted")
    func additionalHeaders() throws {
        for name in ["Authorization", "cookie", "X-Api-Key"] {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = [name: "secret"]
            let error = #expect(throws: NetworkError.self) { try URLSessionTransport(configuration: configuration) }
            #expect(error?.kind == .invalidRequest && error?.reason?.contains("httpAdditionalHeaders") == true)
            #expect(error?.reason?.contains("secret") == false)
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["User-Agent": "app", "X-Client": "1"]
        _ = try URLSessionTransport(configuration: configuration)
    }

    @Test("Sessions that the library creates have no cache, no cookies and no stored credentials", .row("L5", "L43"))
    func withoutPolicy() {
        let configuration = URLSessionConfiguration.withoutPolicy
        #expect(configuration.urlCache == nil)
        #expect(configuration.httpCookieStorage == nil)
        #expect(configuration.urlCredentialStorage == nil)
        #expect(!configuration.httpShouldSetCookies)
    }

    #if os(Linux)
        @Test("URLSession sends the requests if libcurl is not available, and one line says so")
        func withoutLibcurl() throws {
            var lines: [String] = []
            #expect(PlatformTransport.choose(nil) { lines.append($0) } is URLSessionTransport)
            #expect(lines.count == 1)
            #expect(lines.first?.hasPrefix("URLSession sends the requests") == true)
            let curl = try CurlTransport()
            #expect(PlatformTransport.choose(curl) { lines.append($0) } is CurlTransport)
            #expect(lines.count == 1)
        }

        @Test("A libcurl with blocking name lookups is refused, because one slow lookup would block every call")
        func blockingLibcurl() {
            #expect(throws: CurlLibrary.Fault.blocking) {
                _ = try CurlLibrary(version: "libcurl/8.0.0", features: [.tls, .http2]).checked()
            }
        }

        @Test("A setting that needs a missing feature of libcurl causes an error that names the setting")
        func missingFeature() throws {
            let proxy = try #require(URL(string: "https://proxy.example"))
            let wanting = [
                "addressFamily": CurlTransport.Configuration(addressFamily: .v6),
                "unixSocketPath": CurlTransport.Configuration(unixSocketPath: "/run/x"),
                "proxy": CurlTransport.Configuration(proxy: .url(proxy)),
                "tls": CurlTransport.Configuration(tls: TLSConfiguration(minimumVersion: .v1_3)),
            ]
            for (part, configuration) in wanting {
                let error = #expect(throws: NetworkError.self) {
                    try configuration.validate(for: CurlLibrary(version: "", features: .asynchronousLookup))
                }
                #expect(error?.description.contains("\(part): this system's libcurl") == true)
            }
        }
    #endif
}
