import Foundation
import Testing

@testable import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The errors of Apple's systems, as far as their translation is shared code.
@Suite("Errors of sessions", .endsInTime)
struct URLSessionFailureTests {
    private func kind(
        _ error: any Error, hasHead: Bool = false, isCutOff: Bool = false, isRedirect: Bool = false
    ) -> NetworkError.Kind {
        URLSessionFailure(
            error: error, isSecure: true, hasHead: hasHead, isCutOff: isCutOff, isRedirect: isRedirect
        ).networkError.kind
    }

    private func posix(_ code: POSIXErrorCode) -> NSError {
        NSError(domain: NSPOSIXErrorDomain, code: Int(code.rawValue))
    }

    @Test(
        "A POSIX error of a connection that was closed while the app was suspended is a lost connection",
        arguments: [POSIXErrorCode.ECONNABORTED, .ECONNRESET, .EPIPE, .ENOTCONN, .EPROTO])
    func lost(code: POSIXErrorCode) {
        #expect(kind(posix(code)) == .connectionLostBeforeHead)
        #expect(kind(posix(code), hasHead: true) == .connectionLostAfterHead)
    }

    @Test("The other POSIX errors of a network have the kinds of their causes, and an unknown one has none")
    func posix() {
        #expect(kind(posix(.ETIMEDOUT)) == .idleTimedOut)
        #expect(kind(posix(.ENETDOWN)) == .notConnected && kind(posix(.ENETUNREACH)) == .notConnected)
        #expect(kind(posix(.EHOSTUNREACH)) == .cannotConnect && kind(posix(.ECONNREFUSED)) == .cannotConnect)
        #expect(kind(posix(.EDOM)) == .unknown)
        #expect(kind(NSError(domain: NSPOSIXErrorDomain, code: .max)) == .unknown)
        #expect(kind(NSError(domain: "kCFErrorDomainCFNetwork", code: 310)) == .cannotConnect)
        #expect(kind(NSError(domain: "kCFErrorDomainCFNetwork", code: 1)) == .unknown)
        #expect(kind(NSError(domain: "other", code: 54)) == .unknown)
    }

    @Test("A body that ends early is truncated, unless the server has reset the connection")
    func truncated() {
        #expect(kind(URLError(.networkConnectionLost), hasHead: true, isCutOff: true) == .truncatedBody)
        #expect(kind(URLError(.networkConnectionLost), hasHead: true) == .connectionLostAfterHead)
        #expect(kind(URLError(.networkConnectionLost)) == .connectionLostBeforeHead)
        let codes = ["_kCFStreamErrorDomainKey": 1, "_kCFStreamErrorCodeKey": Int(POSIXErrorCode.ECONNRESET.rawValue)]
        let reset = URLError(.networkConnectionLost, userInfo: codes)
        #expect(kind(reset, hasHead: true, isCutOff: true) == .connectionLostAfterHead)
        let end = URLError(
            .networkConnectionLost, userInfo: ["_kCFStreamErrorDomainKey": 4, "_kCFStreamErrorCodeKey": -4])
        #expect(kind(end, hasHead: true, isCutOff: true) == .truncatedBody)
    }

    @Test("App Transport Security sends nothing, and its hint names it")
    func transportSecurity() {
        let error = URLError(.appTransportSecurityRequiresSecureConnection)
        #expect(kind(error) == .invalidRequest)
        #expect(NetworkError(.invalidRequest, underlying: error).hint?.contains("App Transport Security") == true)
        #expect(NetworkError(.invalidRequest).hint?.contains("App Transport Security") == false)
    }

    @Test("A redirect whose target the system cannot read is a refused redirect")
    func redirects() {
        #expect(kind(URLError(.redirectToNonExistentLocation)) == .redirectRefused)
        #expect(kind(URLError(.unsupportedURL), hasHead: true, isRedirect: true) == .redirectRefused)
        #expect(kind(URLError(.unsupportedURL)) == .malformedResponse)
        #expect(kind(URLError(.requestBodyStreamExhausted)) == .bodyUnreadable)
    }
}
