#if os(Linux)
    import Foundation
    import Testing

    /// An HTTP/2 server over TLS, written in Python, that answers a request with frames without content for four
    /// seconds.
    struct FloodServer {
        let url: URL
        private let running: RunningTool

        /// The frames of a flood.
        enum Kind: String, CaseIterable {
            case data, goAway, settings, informational
        }

        init(_ authority: CertificateAuthority, certificate: String, _ kind: Kind) throws {
            running = try Tool.python.start(
                ["-c", FloodServer.script, certificate, kind.rawValue], in: authority.folder.url)
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
                    head = frame(1, 4, 1, b"\\x88") if sys.argv[2] != "informational" else b""
                    connection.sendall(frame(4, 1, 0, b"") + head)
                    limit = lambda count: frame(4, 0, 0, struct.pack(">HI", 3, count))
                    flood = {
                        "data": frame(0, 0, 1, b"") * 7000,
                        "goAway": frame(7, 0, 0, struct.pack(">II", 2**31 - 1, 0)) * 4000,
                        "settings": (limit(100) + limit(101)) * 2000,
                        "informational": frame(6, 1, 0, b"12345678") * 7000 + frame(1, 4, 1, b"\\x08\\x03103"),
                    }[sys.argv[2]]
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
