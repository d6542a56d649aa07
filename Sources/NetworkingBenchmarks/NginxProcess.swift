#if os(Linux)
    import Foundation
    import Networking
    import NetworkingTesting

    /// An nginx process with TLS and HTTP/2 in a temporary folder, as a proxy for another server.
    final class NginxProcess {
        let url: URL
        let certificate: URL
        private let folder: URL
        private let process = Process()

        /// - Parameter requests: The number of requests after which nginx closes a connection. Default: 20.
        convenience init(proxying backend: URL, requests: Int = 20) async throws {
            try await self.init(
                location: "proxy_pass \(backend); proxy_http_version 1.1; proxy_buffering off;", requests: requests)
        }

        /// - Parameter location: nginx's directives for all paths.
        init(location: String, requests: Int) async throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("nginx-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            certificate = folder.appendingPathComponent("cert.pem")
            let port = try LoopbackServer().port  // the port is free again when the server is released after this line
            guard let url = URL(string: "https://127.0.0.1:\(port)/") else { throw URLError(.badURL) }
            self.url = url
            let configuration = """
                daemon off; master_process off; worker_processes 1; pid nginx.pid; error_log nginx.err;
                events { worker_connections 1024; }
                http {
                    access_log off; keepalive_requests \(requests);
                    client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
                    server {
                        listen 127.0.0.1:\(port) ssl http2;
                        ssl_certificate cert.pem; ssl_certificate_key key.pem;
                        location / { \(location) }
                    }
                }
                """
            try Data(configuration.utf8).write(to: folder.appendingPathComponent("nginx.conf"))
            let openssl = try start(
                Process(), "openssl",
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2"
                    + " -subj /CN=Test -addext subjectAltName=IP:127.0.0.1")
            openssl.waitUntilExit()
            _ = try start(process, "nginx", "-p \(folder.path) -c nginx.conf -e nginx.err")
            let probe = ReachabilityService.TCPConnectionProbe(host: "127.0.0.1", port: port)
            for _ in 0..<200 where await !probe.status().isReachable { try await Task.sleep(for: .milliseconds(20)) }
        }

        private func start(_ process: Process, _ program: String, _ arguments: String) throws -> Process {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [program] + arguments.split(separator: " ").map(String.init)
            process.environment = ProcessInfo.processInfo.environment.merging(["PATH": "/usr/sbin:/usr/bin:/bin"]) {
                $1
            }
            process.currentDirectoryURL = folder
            process.standardError = FileHandle.nullDevice
            try process.run()
            return process
        }

        deinit {
            // The process inherits blocked signals from the thread that started it. SIGKILL cannot be blocked.
            if process.isRunning {
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
            try? FileManager.default.removeItem(at: folder)
        }
    }
#endif
