#if os(Linux)
    import Foundation
    import Networking
    import NetworkingTesting
    import Testing

    /// nginx with TLS in a temporary folder, in front of a server of the test. nginx ends when the value is released.
    struct Nginx {
        /// The URL of the server: `https://127.0.0.1:` and the port, or `http:` if the server has no TLS.
        let url: URL
        /// A Unix socket on which the same server listens, without TLS.
        let socket: URL
        let authority: CertificateAuthority
        private let running: RunningTool

        /// - Parameters:
        ///   - isHTTP2: Whether TLS negotiates HTTP/2.
        ///   - keepaliveRequests: The number of requests after which nginx closes a connection. Over HTTP/2, nginx
        ///     sends GOAWAY.
        ///   - locations: The `location` blocks of the server.
        ///   - isPlain: Whether the server listens without TLS.
        init(
            isHTTP2: Bool, keepaliveRequests: Int = 1_000, isPlain: Bool = false, locations: String
        ) async throws {
            authority = try CertificateAuthority()
            try authority.issue("server", for: "IP:127.0.0.1")
            let folder = try authority.folder
            let port = try LoopbackServer().port  // The server is released at once, so the port is free again.
            socket = folder.file("nginx.sock")
            let configuration = """
                daemon off; master_process off; worker_processes 1; pid nginx.pid; error_log nginx.err;
                events { worker_connections 1024; }
                http {
                    log_format requests '$connection $request_method $request_uri $status';
                    access_log requests.log requests;
                    client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
                    keepalive_requests \(keepaliveRequests);
                    server {
                        listen 127.0.0.1:\(port)\(isPlain ? "" : " ssl")\(isHTTP2 ? " http2" : "");
                        listen unix:\(socket.path);
                        ssl_certificate server.pem; ssl_certificate_key server.key;
                        \(locations)
                    }
                }
                """
            try Data(configuration.utf8).write(to: folder.file("nginx.conf"))
            running = try Tool.nginx.start(
                ["-p", folder.url.path, "-c", "nginx.conf", "-e", "nginx.err"], in: folder.url)
            url = try #require(URL(string: "\(isPlain ? "http" : "https")://127.0.0.1:\(port)/"))
            let probe = ReachabilityService.TCPConnectionProbe(host: "127.0.0.1", port: port)
            for _ in 0..<200 where await !probe.status().isReachable {
                try await Task.sleep(for: .milliseconds(20))
            }
        }

        /// Returns a transport that trusts the server.
        func transport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) throws -> CurlTransport {
            var configuration = CurlTransport.Configuration(
                threads: 1, tls: TLSConfiguration(trust: .file(try authority.certificate)))
            change(&configuration)
            return try CurlTransport(configuration)
        }

        /// Returns the paths of the requests that nginx has processed, each with the number of its requests.
        func processed() throws -> [String: Int] {
            let log = try String(contentsOf: authority.folder.file("requests.log"), encoding: .utf8)
            return log.split(separator: "\n").reduce(into: [:]) { counts, line in
                counts[String(line.split(separator: " ")[2]), default: 0] += 1
            }
        }
    }
#endif
