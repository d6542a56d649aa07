#if os(Linux)
    import Foundation
    import Networking
    import Testing

    /// A certificate authority that a test creates, and the certificates that it issues, in a temporary folder.
    struct CertificateAuthority {
        let scratch = Result { try Scratch() }

        var folder: Scratch { get throws { try scratch.get() } }
        /// The certificate of the authority.
        var certificate: URL { get throws { try folder.file("ca.pem") } }

        init() throws {
            try openssl(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=Test"
            )
        }

        /// Creates a key and a certificate, `name.key` and `name.pem`.
        ///
        /// - Parameters:
        ///   - host: The subject alternative name: `IP:127.0.0.1`, `DNS:other.example`.
        ///   - days: The number of days for which the certificate is valid. If the number is negative, the certificate
        ///     has expired. Default: 2.
        func issue(_ name: String, for host: String, days: Int = 2) throws {
            try openssl(
                "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout \(name).key -out \(name).csr -subj /CN=\(name)"
            )
            try Data("subjectAltName=\(host)\n".utf8).write(to: folder.file("\(name).ext"))
            try openssl(
                "x509 -req -in \(name).csr -CA ca.pem -CAkey ca.key -CAcreateserial -out \(name).pem -days \(days) -extfile \(name).ext"
            )
        }

        /// Encrypts the key of a certificate, and returns the URL of the encrypted key.
        func encryptedKey(_ name: String, passphrase: String) throws -> URL {
            try openssl("pkey -in \(name).key -aes128 -passout pass:\(passphrase) -out \(name).encrypted.key")
            return try folder.file("\(name).encrypted.key")
        }

        /// Returns a certificate and its key in the format PKCS #12.
        func pkcs12(_ name: String, passphrase: String) throws -> Data {
            try openssl(
                "pkcs12 -export -in \(name).pem -inkey \(name).key -out \(name).p12 -passout pass:\(passphrase)")
            return try Data(contentsOf: folder.file("\(name).p12"))
        }

        /// Returns the pin of the key of a certificate.
        func pin(_ name: String) throws -> TLSConfiguration.Pin {
            try openssl("x509 -in \(name).pem -pubkey -noout -out \(name).pub.pem")
            try openssl("pkey -pubin -in \(name).pub.pem -outform der -out \(name).pub.der")
            try openssl("dgst -sha256 -binary -out \(name).digest \(name).pub.der")
            let digest = try Data(contentsOf: folder.file("\(name).digest"))
            return try #require(TLSConfiguration.Pin("sha256//" + digest.base64EncodedString()))
        }

        private func openssl(_ arguments: String) throws {
            try Tool.openssl.run(arguments.split(separator: " ").map(String.init), in: folder.url)
        }
    }

    /// `openssl s_server`, which responds to each GET with a page about the connection.
    struct TLSServer {
        let url: URL
        private let running: RunningTool

        /// - Parameters:
        ///   - more: Further arguments of `openssl s_server`.
        ///   - isInteractive: Whether the test writes the responses. Otherwise, each response is a page with the
        ///     properties of the TLS session. Default: false.
        init(
            _ authority: CertificateAuthority, certificate: String, _ more: String = "", isInteractive: Bool = false
        ) throws {
            let page = isInteractive ? "" : "-www"
            let arguments =
                "s_server -accept 127.0.0.1:0 -cert \(certificate).pem -key \(certificate).key \(page) \(more)"
            running = try Tool.openssl.start(arguments.split(separator: " ").map(String.init), in: authority.folder.url)
            var text = ""
            while !text.contains("ACCEPT 127.0.0.1:") || !text.hasSuffix("\n") {
                let data = running.output.availableData
                try #require(!data.isEmpty, "openssl s_server ended")
                text += String(decoding: data, as: UTF8.self)
            }
            let address = try #require(text.firstMatch(of: /ACCEPT 127\.0\.0\.1:(\d+)/)?.output.1)
            url = try #require(URL(string: "https://127.0.0.1:\(address)/"))
        }

        /// Ends the server, without an orderly end of its connections.
        func kill() {
            Glibc.kill(running.process.processIdentifier, SIGKILL)
        }

        /// Sends text to the client of an interactive server.
        func write(_ text: String) throws {
            try (running.process.standardInput as? Pipe)?.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        }

        /// Waits until the client of an interactive server has sent a text.
        func output(until end: String) async throws {
            var text = ""
            while !text.contains(end) {
                // Read on another thread, because the read blocks until the client has sent something.
                let data = await withCheckedContinuation { continuation in
                    Thread.detachNewThread { [output = running.output] in
                        continuation.resume(returning: output.availableData)
                    }
                }
                try #require(!data.isEmpty, "openssl s_server ended")
                text += String(decoding: data, as: UTF8.self)
            }
        }
    }
#endif
