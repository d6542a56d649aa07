import Foundation
@testable import Networking
import Testing

@Suite("Public key pins", .endsInTime)
struct PublicKeyPinTests {
    // Created with openssl: the keys as Apple's Security framework exports them, and the digests of the output of
    // `openssl pkey -pubin`.
    private static let rsa =
        "MIIBCgKCAQEAtAt0+PQHeOX1dza8DpikDjZGnJOxomdGblLzVhRLWUzsbmBfVnourhUeNFNMwATRXy72rWx6P5xoCh7JMsLvrzdq6vqJ8+H7p7gUbJl9"
        + "vymf2effMwujdOxJMH4Kd+jZU9TWOmVf+yXYCk7iEuTxTeySkFwTLGYGnlDfcACyfuJdjVkinr7YIdUY4QazN2LaTpBLVM4dh9L+hRKECiQBP3bjwdhF"
        + "N4uoyxtR0AzlKtSH62v+goTY97boRv3M+infytKtY43g/vRQMODHl6wYjteQ6WpxvY79ey+WclNFBDywldNJMMRG0auetBFBI5L/uwTTVJYiD5HHIgEE"
        + "+K/EfQIDAQAB"
    private static let curves: [(bits: Int, key: String, pin: String)] = [
        (
            256, "BHCoC2B4Ka5DQtqfdXWAt83WRdoKn21DSvfZssSxV69yP366PCmku+wjFyC1oUhldHpHD85G/G+UodqZhGYK1Q8=",
            "0+r5wZ/7Kc821c8DDfTvvbxleIc1eMhYdtodRIgRm2A="
        ),
        (
            384,
            "BFxt3QJ3J27kNJi5+RdhsW97cTJ/rEm6b9QS+lkK/oexY8d46moibD2gq352EdMkvlxBCOp14Ei/u8JYUSkj2XKOKm0fYl9cg0XdkohqIyDnuvoe"
                + "bcKx4N9KxqER1X+AWA==",
            "junzwz3QHmXL9mIjTWbtS2i/DWnJwhGn3dOrqSkdldE="
        ),
        (
            521,
            "BAHpS2kJL5rSwE51Cpui0BOc0HDHuV2lGS6tylMivhlpcBbNXwzbmoqjDMB0+cuQas3XXhuhgEYE9IrhWFTH7/wo1ABEW8Jgr5Uvm7FNzsLlJPvH"
                + "wJq96fmAL3+y6PBET6twEyu4xKw+nz7ytxMeQruknVfxLIAEetnS5fjdQQzaAvpZ2A==",
            "qYRXs+y0ihH+n0kNxzWKzwV9rpLng52y0QSE1hUpWVw="
        ),
    ]

    @Test("The pin of a key that Apple's Security framework exports equals the pin that openssl computes")
    func exported() throws {
        let rsa = try #require(Data(base64Encoded: Self.rsa))
        #expect(try TLSConfiguration.Pin(.rsa(rsa))?.base64 == "v4CtBhS6UFEgrye+0pj8xK/cCn510egrF9RZzCZrDVg=")
        for (bits, key, pin) in Self.curves {
            let point = try #require(Data(base64Encoded: key))
            #expect(try TLSConfiguration.Pin(.curve(point, bits: bits))?.base64 == pin, "\(bits)")
        }
        #expect(try TLSConfiguration.Pin(.curve(Data(count: 65), bits: 255)) == nil)
    }

    @Test("The certificates of a PEM file are read, even if the file has other content")
    func authorities() throws {
        let one = Data("one".utf8).base64EncodedString()
        let text = """
            a comment
            -----BEGIN CERTIFICATE-----\r\n\(one)\r\n-----END CERTIFICATE-----
            -----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----
            -----BEGIN CERTIFICATE-----
            \(Data("two".utf8).base64EncodedString())
            -----END CERTIFICATE-----
            """
        let tls = TLSConfiguration(trust: .pem(Data(text.utf8)))
        #expect(try tls.authorities == [Data("one".utf8), Data("two".utf8)])
        #expect(try TLSConfiguration().authorities == nil)
        #expect(throws: NetworkError.self) {
            try TLSConfiguration(trust: .pem(Data("-----BEGIN PRIVATE KEY-----".utf8))).authorities
        }
    }

    @Test("A TLS setting that cannot be read causes an error that names the setting")
    func unreadable() {
        let wrong: [(String, TLSConfiguration)] = [
            ("tls.trust", TLSConfiguration(trust: .pem(Data("no PEM".utf8)))),
            ("tls.trust", TLSConfiguration(trust: .file(URL(fileURLWithPath: "/no/such/file")))),
            (
                "tls.clientCertificate",
                TLSConfiguration(clientCertificate: .init(pkcs12: Data("x".utf8), passphrase: ""))
            ),
            (
                "tls.clientCertificate",
                TLSConfiguration(clientCertificate: .init(certificate: URL(fileURLWithPath: "/dev/null")))
            ),
        ]
        for (part, tls) in wrong {
            let error = #expect(throws: NetworkError.self) { _ = try URLSessionTransport(tls: tls) }
            #expect(error?.kind == .invalidRequest)
            #expect(error?.description.hasPrefix(part + ":") == true, "\(String(describing: error))")
        }
    }

    #if os(Linux)
        @Test("On Linux, URLSessionTransport refuses TLS settings with an error that names CurlTransport")
        func refused() {
            let pin = TLSConfiguration.Pin(Data(count: 32).base64EncodedString())
            for tls in [TLSConfiguration(minimumVersion: .v1_3), TLSConfiguration(pins: [pin].compactMap { $0 })] {
                let error = #expect(throws: NetworkError.self) { _ = try URLSessionTransport(tls: tls) }
                #expect(error?.kind == .invalidRequest)
                #expect(error?.description.contains("CurlTransport") == true)
            }
        }
    #endif

    @Test("No description of a client certificate shows its passphrase")
    func passphrase() {
        let certificate = TLSConfiguration.ClientCertificate(pkcs12: Data([0x30]), passphrase: "hunter2")
        var text = "\(certificate) \(TLSConfiguration(clientCertificate: certificate))"
        dump(certificate, to: &text)
        #expect(!text.contains("hunter2"))
    }
}
