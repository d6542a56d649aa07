#if os(Linux)
    import Foundation
    @testable import Networking
    import NetworkingTesting
    import Testing

    extension Loopback.TLSTests {
        @Test(
            "A redirect to another origin carries no client certificate, also after a direct call has sent it",
            arguments: [false, true])
        func certificateAndRedirect(isPKCS12: Bool) async throws {
            let authority = try CertificateAuthority()
            try authority.issue("server", for: "IP:127.0.0.1")
            try authority.issue("client", for: "DNS:client.example")
            // The page of this server says whether the client has sent a certificate.
            let other = try TLSServer(authority, certificate: "server", "-verify 1 -CAfile ca.pem")
            let home = try LoopbackServer()
            let target = other.url.absoluteString
            home.route(.get, "/go") { _ in .redirect(to: target) }
            let folder = try authority.folder
            let certificate =
                isPKCS12
                ? TLSConfiguration.ClientCertificate(
                    pkcs12: try authority.pkcs12("client", passphrase: "secret"), passphrase: "secret")
                : TLSConfiguration.ClientCertificate(
                    certificate: folder.file("client.pem"), key: folder.file("client.key"))
            let tls = TLSConfiguration(trust: .file(try authority.certificate), clientCertificate: certificate)
            let transport = RedirectFollowingTransport(
                base: try CurlTransport(CurlTransport.Configuration(tls: tls)))
            for _ in 0..<3 {
                let direct = try await answer(other.url, on: transport).get()
                #expect(!String(decoding: direct.data, as: UTF8.self).contains("no client certificate available"))
                let followed = try await answer(home.url.appending(path: "go"), on: transport).get()
                #expect(String(decoding: followed.data, as: UTF8.self).contains("no client certificate available"))
            }
        }
    }
#endif
