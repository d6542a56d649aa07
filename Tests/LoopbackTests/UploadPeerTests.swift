#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    extension Loopback {
        /// Servers of tus that others wrote: Python's `tuspyserver` and `resumable-upload`, behind nginx, and behind a
        /// proxy that cuts connections. `.ci/run` installs them.
        @Suite("Uploads to Python's servers", .enabled(if: TusPeer.isExpected, "tuspyserver is not installed"))
        struct UploadPeerTests {
            @Test(
                "Files arrive byte for byte, however often their connections are cut",
                .enabled(if: Tool.nginx.isExpected, Tool.nginx.comment), arguments: TusPeer.Library.allCases)
            func cut(library: TusPeer.Library) async throws {
                let peer = try TusPeer(library)
                let nginx = try await Nginx(
                    isHTTP2: false, isPlain: true,
                    locations: """
                        location / {
                            proxy_pass \(peer.url.absoluteString); proxy_http_version 1.1; proxy_request_buffering off;
                            client_max_body_size 0; proxy_set_header Host $http_host;
                        }
                        """)
                let proxy = try CuttingProxy(to: UInt16(try #require(nginx.url.port)))
                let service = NetworkService(environment: NetworkEnvironment(baseURL: proxy.url)) {
                    $0.retry = RetryPolicy(retries: 100, backoff: .constant(.milliseconds(5)))
                    $0.backoffGate = nil
                }
                // `.ci/uploads` sends 100 files.
                let count = ProcessInfo.processInfo.environment["UPLOADS"].flatMap { Int($0) } ?? 6
                let folder = try Scratch()
                var contents: [Data] = []
                for number in 0..<count {
                    let file = folder.file("film-\(number).mp4")
                    let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* (31 + number) &+ $0 >> 8) })
                    contents.append(content)
                    try content.write(to: file)
                    let cuts = proxy.cuts
                    let metadata = ["filename": file.lastPathComponent, "filetype": "video/mp4"]
                    let body = HTTPBody.file(file).resumable(.tus(metadata: metadata))
                    try await service.request(
                        .post("files").body(body).settings { $0.maximumAttempts = 100 })
                    #expect(proxy.cuts >= cuts + 5, "each file is cut five times")
                }
                let arrived = try peer.files()
                #expect(arrived.count == contents.count && Set(arrived) == Set(contents))
                let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
                #expect(left.filter { $0.hasSuffix(".upload") }.isEmpty)
            }

            @Test(
                "Parts with checksums, a first part, and an upload that is given up",
                arguments: TusPeer.Library.allCases)
            func offers(library: TusPeer.Library) async throws {
                let peer = try TusPeer(library)
                let service = NetworkService(environment: NetworkEnvironment(baseURL: peer.url))
                let folder = try Scratch()
                let file = folder.file("film.mp4")
                let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
                try content.write(to: file)
                let metadata = ["filename": "film.mp4", "filetype": "video/mp4"]
                let endpoint = AdHocEndpoint.post("files")
                    .body(.file(file).resumable(.tus(partSize: 70_000, sendsFirstPart: true, metadata: metadata)))
                try await service.request(endpoint)
                #expect(try peer.files() == [content])

                // A connection that is cut once leaves an upload, which is then given up.
                let proxy = try CuttingProxy(to: UInt16(try #require(peer.url.port)))
                let unlucky = NetworkService(environment: NetworkEnvironment(baseURL: proxy.url)) { $0.retry = nil }
                let left = AdHocEndpoint.post("files").body(.file(file).resumable(.tus(metadata: metadata)))
                await #expect(throws: (any Error).self) { for _ in 0..<9 { try await unlucky.request(left) } }
                try await NetworkService(environment: NetworkEnvironment(baseURL: proxy.url)).discardUpload(of: left)
                #expect(try peer.files() == [content])
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["film.mp4"])
            }
        }
    }

    /// A proxy that cuts each connection after a random number of bytes from the client.
    final class CuttingProxy {
        let url: URL
        private let running: RunningTool
        private let folder: Scratch
        private let log: URL

        var cuts: Int { (try? String(contentsOf: log, encoding: .utf8))?.split(separator: "\n").count ?? 0 }

        init(to port: UInt16) throws {
            folder = try Scratch()
            log = folder.file("cuts")
            let script = folder.file("proxy.py")
            try Data(CuttingProxy.script.utf8).write(to: script)
            running = try Tool.python.start([script.path, "\(port)", log.path], in: folder.url)
            let own = String(decoding: running.output.availableData, as: UTF8.self).filter(\.isNumber)
            try #require(!own.isEmpty, "the proxy in Python has not started")
            url = try #require(URL(string: "http://127.0.0.1:\(own)/"))
        }

        private static let script = """
            import asyncio, random, sys
            port, log = int(sys.argv[1]), sys.argv[2]
            random.seed(1)

            async def serve(reader, writer):
                there, here = await asyncio.open_connection("127.0.0.1", port)
                left = random.randint(2_000, 60_000)
                async def back():
                    while data := await there.read(65536):
                        writer.write(data)
                        await writer.drain()
                    writer.close()
                answers = asyncio.ensure_future(back())
                try:
                    while data := await reader.read(4096):
                        here.write(data[:left])
                        await here.drain()
                        left -= len(data)
                        if left <= 0:
                            open(log, "a").write("cut\\n")
                            break
                finally:
                    here.close()
                    if left <= 0:
                        await asyncio.sleep(0.005)
                        writer.transport.abort()
                        answers.cancel()

            async def main():
                server = await asyncio.start_server(serve, "127.0.0.1", 0)
                print(server.sockets[0].getsockname()[1], flush=True)
                await asyncio.Future()

            asyncio.run(main())
            """
    }

    /// A server of tus in Python, in a process of its own.
    final class TusPeer {
        enum Library: String, CaseIterable {
            case tuspyserver
            case resumableUpload = "resumable_upload"
        }

        let url: URL
        private let folder: Scratch
        private let running: RunningTool

        /// Whether the libraries are installed, or the tests run in CI.
        static let isExpected: Bool = {
            guard Tool.python.isExpected, let folder = try? Scratch() else { return false }
            let arguments = ["-c", "import tuspyserver, uvicorn, resumable_upload"]
            let isInstalled = (try? Tool.python.run(arguments, in: folder.url)) != nil
            return isInstalled || ProcessInfo.processInfo.environment["CI"] != nil
        }()

        init(_ library: Library) throws {
            folder = try Scratch()
            let script = folder.file("server.py")
            try Data(TusPeer.script.utf8).write(to: script)
            running = try Tool.python.start([script.path, library.rawValue], in: folder.url)
            let port = String(decoding: running.output.availableData, as: UTF8.self).filter(\.isNumber)
            try #require(!port.isEmpty, "the server in Python has not started")
            url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
        }

        /// The contents of the files that have arrived as a whole.
        func files() throws -> [Data] {
            let store = folder.file("store")
            let names = try FileManager.default.contentsOfDirectory(atPath: store.path)
            let contents = names.compactMap { try? Data(contentsOf: store.appendingPathComponent($0)) }
            return contents.filter { $0.count == 300_000 }
        }

        private static let script = """
            import os, socket, sys
            os.mkdir("store")
            free = socket.socket()
            free.bind(("127.0.0.1", 0))

            if sys.argv[1] == "tuspyserver":
                import uvicorn
                from fastapi import FastAPI
                from tuspyserver import create_tus_router
                app = FastAPI()
                app.include_router(create_tus_router(prefix="files", files_dir="store"))
                free.listen(100)
                print(free.getsockname()[1], flush=True)
                uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[free])
            else:
                from http.server import ThreadingHTTPServer
                from resumable_upload import SQLiteStorage, TusHTTPRequestHandler, TusServer
                storage = SQLiteStorage(db_path="uploads.db", upload_dir="store")
                class Handler(TusHTTPRequestHandler):
                    tus_server = TusServer(storage=storage, base_path="/files")
                free.close()
                server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
                print(server.server_address[1], flush=True)
                server.serve_forever()
            """
    }
#endif
