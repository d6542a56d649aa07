#if os(Linux)
    import Foundation
    import Testing

    /// An HTTP/2 server over TLS, written in Python, that answers a request with empty frames for four seconds.
    struct FloodServer {
        let url: URL
        private let running: RunningTool

        init(_ authority: CertificateAuthority, certificate: String) throws {
            running = try Tool.python.start(["-c", FloodServer.script, certificate], in: authority.folder.url)
            let line = String(decoding: running.output.availableData, as: UTF8.self)
            let port = try #require(
                Int(line.trimmingCharacters(in: .whitespacesAndNewlines)), "the server did not start")
            url = try #require(URL(string: "https://127.0.0.1:\(port)/"))
        }

        private static let script = """
            import socket, ssl, struct, sys, threading, time
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[1] + ".pem", sys.argv[1] + ".key")
            context.set_alpn_protocols(["h2"])
            def frame(kind, flags, stream, content):
                return struct.pack(">I", len(content))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + content
            def serve(connection):
                try:
                    connection = context.wrap_socket(connection, server_side=True)
                    connection.sendall(frame(4, 0, 0, b""))
                    received = b""
                    while b"\\x01\\x05\\x00\\x00\\x00\\x01" not in received and b"\\x01\\x25\\x00\\x00\\x00\\x01" not in received:
                        received += connection.recv(65536)
                    connection.sendall(frame(4, 1, 0, b"") + frame(1, 4, 1, b"\\x88"))
                    flood = frame(0, 0, 1, b"") * 7000
                    end = time.time() + 4
                    while time.time() < end: connection.sendall(flood)
                except Exception: pass
            listener = socket.socket()
            listener.bind(("127.0.0.1", 0))
            listener.listen(5)
            print(listener.getsockname()[1], flush=True)
            while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
            """
    }
#endif
