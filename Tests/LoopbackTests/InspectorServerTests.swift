import Foundation
import Networking
import NetworkingInspector
import NetworkingServer
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("The server of the inspector")
    struct InspectorServerTests {
        private let inspector: NetworkInspector
        private let server: LoopbackServer
        private let service: NetworkService

        init() throws {
            let inspector = try NetworkInspector()
            self.inspector = inspector
            server = try LoopbackServer { _ in .json(["name": "Ada"]) }
            service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.observers.append(inspector)
            }
        }

        /// Returns the head of the response to a request that is sent as it is.
        private func answer(_ target: String, _ fields: String, method: String = "GET") throws -> String {
            let client = try RawClient(port: UInt16(try #require(inspector.url.port)))
            client.send("\(method) \(target) HTTP/1.1\r\n\(fields)Connection: close\r\n\r\n")
            return client.receive()
        }

        private var host: String { "Host: 127.0.0.1:\(inspector.url.port ?? 0)\r\n" }

        @Test("Another host name, origin, site, path or method is refused")
        func refusals() throws {
            let path = inspector.url.path + "/"
            let port = inspector.url.port ?? 0
            #expect(try answer(path, host).hasPrefix("HTTP/1.1 200"))
            #expect(try answer(path, "Host: localhost:\(port)\r\n").hasPrefix("HTTP/1.1 200"))
            for (target, fields, method, status) in [
                (path, "Host: evil.example:\(port)\r\n", "GET", 421), (path, "", "GET", 421),
                (path, host + host, "GET", 421), (path, "Host: 127.0.0.1\r\n", "GET", 421),
                (path, host + "Origin: http://evil.example\r\n", "GET", 403),
                (path, host + "Origin: null\r\n", "GET", 403),
                (path + "events", host + "Sec-Fetch-Site: cross-site\r\n", "GET", 403),
                (path, host, "POST", 405), (path, host, "DELETE", 405), (path, host, "OPTIONS", 405),
                ("/", host, "GET", 404), ("/x" + path, host, "GET", 404), (path + "../", host, "GET", 404),
                (path + "call/1", host, "GET", 404), (path + "call/-1", host, "GET", 404),
                (path + "call/99999999999999999999", host, "GET", 404), (path + "etc/passwd", host, "GET", 404),
                ("//", host, "GET", 404), (String(path.dropLast(2)) + "/", host, "GET", 404),
            ] {
                let found = try answer(target, fields, method: method)
                #expect(found.hasPrefix("HTTP/1.1 \(status)"), "\(method) \(target) \(fields): \(found.prefix(40))")
            }
        }

        @Test("The page may load nothing but its own files, and is in no frame and no cache")
        func policy() throws {
            for name in ["", "inspector.css", "inspector.js", "calls.har"] {
                let found = try answer(inspector.url.path + "/" + name, host)
                #expect(found.hasPrefix("HTTP/1.1 200"), "\(name)")
                for field in ["default-src 'none'", "frame-ancestors 'none'", "nosniff", "no-store", "no-referrer"] {
                    #expect(found.contains(field), "\(name): \(field)")
                }
                #expect(!found.contains("unsafe-inline"))
            }
        }

        @Test("Calls appear on the page while they run, by the library's own event stream")
        func live() async throws {
            let reader = NetworkService(environment: NetworkEnvironment(baseURL: inspector.url))
            var seen: [String] = []
            let task = Task { [service] in
                for number in 0..<20 { try await service.request(.get("contacts/\(number)")) }
            }
            for try await event in reader.events(AdHocEndpoint.get("events")) {
                seen.append(event.type)
                if event.data.contains("/contacts/") || event.data.contains("\"number\":20") { break }
            }
            try await task.value
            #expect(seen.first == "about" && seen.contains("calls"))
            let details = try await reader.request(.get("call/20"), as: .string)
            #expect(details.contains("attempts") && !details.contains("Ada"))
        }

        @Test("No planted secret is in any byte that is served")
        func secrets() async throws {
            let secrets = ["s3cret-query", "s3cret-field", "s3cret-body", "s3cret-cookie", "s3cret-target"]
            let hostile = try LoopbackServer { request in
                guard request.path != "/moved" else {
                    return LoopbackResponse(
                        .ok, headers: ["Set-Cookie": "a=s3cret-cookie"], content: .fixed(Data("s3cret-body".utf8)))
                }
                return LoopbackResponse(
                    .found, headers: ["Location": "/moved?q=s3cret-target"], content: .fixed(Data()))
            }
            let other = NetworkService(environment: NetworkEnvironment(baseURL: hostile.url)) {
                $0.observers.append(inspector)
            }
            inspector.show(other)
            _ = try await other.request(
                .post("orders").query(["q": "s3cret-query"]).header("X-Field", "s3cret-field")
                    .body(.string("s3cret-body")), as: .data)
            let path = inspector.url.path + "/"
            for name in ["", "events", "call/1", "calls.har"] {
                let served = try answer(path + name, host)
                #expect(served.hasPrefix("HTTP/1.1 200"), "\(name)")
                for secret in secrets { #expect(!served.contains(secret), "\(name): \(secret)") }
            }
            #expect(try answer(path + "call/1", host).contains("/moved"))
            #expect(try answer(path + "events", host).contains("ConcurrencyLimit"))
        }

        @Test("More connections than a browser opens are closed, and the page is shown afterwards")
        func connections() async throws {
            let port = UInt16(try #require(inspector.url.port))
            var silent = try (0..<40).map { _ in try RawClient(port: port) }
            for _ in 0..<200 where silent.count(where: \.isEnded) < 8 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(silent.count(where: \.isEnded) == 8)
            silent = []
            for _ in 0..<100 {
                if (try? answer(inspector.url.path + "/", host))?.hasPrefix("HTTP/1.1 200") == true { return }
                try await Task.sleep(for: .milliseconds(20))
            }
            Issue.record("the page is not shown")
        }

        @Test("A client that sends nothing loses its connection")
        func silence() async throws {
            let core = try LoopbackServerCore(Impatient(), port: 0)
            defer { core.stop() }
            let client = try RawClient(port: core.port)
            client.send("GET / HT")
            #expect(!client.isEnded)
            for _ in 0..<200 where !client.isEnded { try await Task.sleep(for: .milliseconds(20)) }
            #expect(client.isEnded)
        }

        @Test("A program that ends its inspector closes its port")
        func ends() async throws {
            var other: NetworkInspector? = try NetworkInspector()
            let url = try #require(other?.url)
            other = nil
            let reader = NetworkService(environment: NetworkEnvironment(baseURL: url))
            for _ in 0..<100 {
                do {
                    try await reader.request(.get("x"))
                } catch {
                    if "\(error)".hasPrefix("cannotConnect") { return }
                }
                try await Task.sleep(for: .milliseconds(20))
            }
            Issue.record("the port is still open")
        }
    }
}

/// A server that waits for a second only.
private struct Impatient: LoopbackService {
    let mostSecondsOfSilence: Int? = 1

    func answer(_ request: IncomingRequest) async {}
    func write(
        _ answer: Void, on socket: LoopbackSocket, after unread: Data, isStopped: @escaping @Sendable () -> Bool
    ) throws -> Bool { false }
}

/// A client that sends bytes as they are.
private final class RawClient: @unchecked Sendable {  // because one test uses it
    private let descriptor: Int32

    init(port: UInt16) throws {
        #if canImport(Darwin)
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let descriptor = descriptor
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    /// Whether the server has closed the connection. It has sent nothing.
    var isEnded: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Reads until the server closes the connection, or nothing arrives for 20 s.
    func receive() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, 20_000) > 0 {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
