#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    extension Loopback {
        /// Servers that others wrote: Python's `websockets` and `aiohttp`, alone, behind nginx with TLS, and over a Unix
        /// socket. `.ci/run` installs them.
        @Suite("WebSockets of Python's servers", .enabled(if: PythonServer.isExpected, "websockets is not installed"))
        struct WebSocketPeerTests {
            private func service(
                _ url: URL, _ configuration: CurlTransport.Configuration = CurlTransport.Configuration()
            ) throws -> NetworkService {
                let transport = try CurlTransport(configuration)
                return NetworkService(environment: NetworkEnvironment(baseURL: url)) { $0.transport = transport }
            }

            private func expectEcho(_ service: NetworkService, compresses: Bool) async throws {
                let options = WebSocket.Options {
                    $0.compresses = compresses
                    $0.subprotocols = ["other", "chat"]
                }
                let socket = service.webSocket(.get("echo"), options, reconnecting: .never)
                var reader = socket.makeAsyncIterator()
                for size in [0, 125, 126, 2_000, 65_536, 1 << 20] {
                    let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 977) })
                    let text = String(repeating: "grün 🙂 ", count: size / 12)
                    try await socket.send(bytes)
                    try await socket.send(text)
                    #expect(try await reader.next() == .binary(bytes))
                    #expect(try await reader.next() == .text(text))
                }
                #expect(socket.subprotocol == "chat")
                try await socket.send("close 4001")
                let error = await #expect(throws: NetworkError.self) { try await reader.next() }
                #expect(error?.kind == .webSocketClosed)
                #expect(socket.closure == WebSocketClose(4001, reason: "as you said"))
            }

            @Test(
                "Messages of every size come back, compressed and not, and a close code arrives",
                arguments: PythonServer.Library.allCases, [true, false])
            func echo(library: PythonServer.Library, compresses: Bool) async throws {
                let server = try PythonServer(library)
                try await expectEcho(service(server.url), compresses: compresses)
            }

            @Test("A refused handshake has the status and the body", arguments: PythonServer.Library.allCases)
            func refused(library: PythonServer.Library) async throws {
                let server = try PythonServer(library)
                let error = await #expect(throws: GeneralRequestError.self) {
                    try await service(server.url).webSocket(.get("refused")).connect()
                }?.cause
                #expect(error?.status == .forbidden)
                #expect(error?.response?.text == "no room")
            }

            @Test("A hundred sockets close properly", arguments: PythonServer.Library.allCases)
            func many(library: PythonServer.Library) async throws {
                let server = try PythonServer(library)
                let service = try service(server.url)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            let socket = service.webSocket(
                                .get("echo"), .init(subprotocols: ["chat"]), reconnecting: .never)
                            try await socket.send("\(number)")
                            var reader = socket.makeAsyncIterator()
                            #expect(try await reader.next() == .text("\(number)"))
                            await socket.close()
                            #expect(try await reader.next() == nil)
                        }
                    }
                    try await group.waitForAll()
                }
            }

            @Test(
                "Behind nginx with TLS, and on a Unix socket",
                .enabled(if: Tool.nginx.isExpected, Tool.nginx.comment), arguments: PythonServer.Library.allCases)
            func routes(library: PythonServer.Library) async throws {
                let server = try PythonServer(library)
                let nginx = try await Nginx(
                    isHTTP2: true,
                    locations: """
                        location / {
                            proxy_pass \(server.url.absoluteString); proxy_http_version 1.1;
                            proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;
                        }
                        """)
                let trust = TLSConfiguration(trust: .file(try nginx.authority.certificate))
                try await expectEcho(
                    service(nginx.url, CurlTransport.Configuration(tls: trust)), compresses: true)
                var overSocket = CurlTransport.Configuration()
                overSocket.unixSocketPath = server.socket.path
                let url = try #require(URL(string: "http://localhost/"))
                try await expectEcho(service(url, overSocket), compresses: true)
            }
        }
    }

    /// A server in Python, in a process of its own, that echoes messages on `/echo`, and refuses a handshake on `/refused`.
    final class PythonServer {
        enum Library: String, CaseIterable {
            case websockets, aiohttp
        }

        let url: URL
        /// A Unix socket on which the same server listens.
        let socket: URL
        private let folder: Scratch
        private let running: RunningTool

        /// Whether the libraries are installed, or the tests run in CI.
        static let isExpected: Bool = {
            guard Tool.python.isExpected, let folder = try? Scratch() else { return false }
            let isInstalled = (try? Tool.python.run(["-c", "import websockets, aiohttp"], in: folder.url)) != nil
            return isInstalled || ProcessInfo.processInfo.environment["CI"] != nil
        }()

        init(_ library: Library) throws {
            folder = try Scratch()
            socket = folder.file("socket")
            let script = folder.file("server.py")
            try Data(PythonServer.script.utf8).write(to: script)
            running = try Tool.python.start([script.path, library.rawValue, socket.path], in: folder.url)
            let port = String(decoding: running.output.availableData, as: UTF8.self).filter(\.isNumber)
            try #require(!port.isEmpty, "the server in Python has not started")
            url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
        }

        private static let script = """
            import asyncio, sys
            library, path = sys.argv[1:]

            async def talk(messages, send, close):
                async for message in messages:
                    if isinstance(message, str) and message.startswith("close "):
                        return await close(int(message[6:]), "as you said")
                    await send(message)

            async def websockets_server():
                from http import HTTPStatus
                from websockets.asyncio.server import serve, unix_serve
                async def handler(socket):
                    await talk(socket, socket.send, socket.close)
                def refuse(socket, request):
                    if request.path == "/refused": return socket.respond(HTTPStatus.FORBIDDEN, "no room")
                options = dict(subprotocols=["chat"], process_request=refuse, max_size=None)
                await unix_serve(handler, path, **options)
                server = await serve(handler, "127.0.0.1", 0, **options)
                return server.sockets[0].getsockname()[1]

            async def aiohttp_server():
                from aiohttp import web
                async def echo(request):
                    socket = web.WebSocketResponse(protocols=["chat"], max_msg_size=0)
                    await socket.prepare(request)
                    async def messages():
                        async for message in socket: yield message.data
                    async def send(message):
                        await (socket.send_str if isinstance(message, str) else socket.send_bytes)(message)
                    await talk(messages(), send, lambda code, reason: socket.close(code=code, message=reason.encode()))
                    return socket
                async def refused(request):
                    return web.Response(status=403, text="no room")
                app = web.Application()
                app.add_routes([web.get("/echo", echo), web.get("/refused", refused)])
                runner = web.AppRunner(app)
                await runner.setup()
                await web.UnixSite(runner, path).start()
                site = web.TCPSite(runner, "127.0.0.1", 0)
                await site.start()
                return runner.addresses[-1][1]

            async def main():
                port = await {"websockets": websockets_server, "aiohttp": aiohttp_server}[library]()
                print(port, flush=True)
                await asyncio.Future()

            asyncio.run(main())
            """
    }
#endif
