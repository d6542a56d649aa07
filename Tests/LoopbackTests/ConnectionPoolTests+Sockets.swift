#if os(Linux)
    import CLibcurl
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    extension Loopback.ConnectionPoolTests {
        @Test("An idle connection that becomes writable is kept, one on which bytes arrive is ended")
        func writable() async throws {
            let server = try RawServer { connection in
                _ = connection.read(1)
                connection.write("x")
                _ = connection.read(1)
            }
            let sockets = try CurlSockets(CurlTransport.Configuration())
            let socket = sockets.openSocket(family: AF_INET, type: Int32(SOCK_STREAM.rawValue), protocol: 0)
            defer { _ = sockets.closeSocket(socket) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(try #require(server.url.port)).bigEndian
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            let isConnected = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            try #require(isConnected)
            let (readAndWrite, nothing) = (Int32(3), Int32(4))  // libcurl's values
            let use = try #require(sockets.join(socket, for: nil, instead: CurlSockets.Use()))
            sockets.noteExclusive(use, keptFor: nil)
            for events in [readAndWrite, nothing] { sockets.want(events, on: socket) }
            sockets.leave(use)
            sockets.wait(milliseconds: 1_000)
            sockets.handleReady { _, _, _ in Issue.record("libcurl waits for nothing") }
            #expect(sockets.isIdle(socket) && !sockets.entries[Int(socket)].isRetired)
            _ = send(socket, "a", 1, Int32(MSG_NOSIGNAL))
            sockets.wait(milliseconds: 2_000)
            sockets.handleReady { _, _, _ in Issue.record("libcurl waits for nothing") }
            #expect(sockets.entries[Int(socket)].isRetired)
        }

        @Test("A file that has the number of a socket that libcurl closed unnoticed is left alone, and is heard")
        func reusedNumber() throws {
            let sockets = try CurlSockets(CurlTransport.Configuration())
            sockets.now = CurlLoop.time()
            let (read, nothing) = (Int32(1), Int32(4))  // libcurl's values
            var numbers: [Int32] = []
            for _ in 0..<2 {
                let socket = sockets.openSocket(family: AF_INET, type: Int32(SOCK_STREAM.rawValue), protocol: 0)
                numbers.append(socket)
                let use = try #require(sockets.join(socket, for: nil, instead: CurlSockets.Use()))
                for events in [read, nothing] { sockets.want(events, on: socket) }
                sockets.leave(use)
            }
            let pipes = numbers.map { number in
                let pipe = Pipe()
                dup2(pipe.fileHandleForReading.fileDescriptor, number)  // libcurl's close, and an open of the app
                return pipe
            }
            defer { for number in numbers { close(number) } }
            sockets.want(read, on: numbers[0])
            sockets.now += 1_000_000_000_000
            sockets.closeExpired()
            #expect(sockets.connections.open == 0)
            for (pipe, number) in zip(pipes, numbers) {
                try pipe.fileHandleForWriting.write(contentsOf: Data("x".utf8))
                var byte: UInt8 = 0
                if number == numbers[0] {
                    var heard: [Int32] = []
                    sockets.wait(milliseconds: 1_000)
                    sockets.handleReady { event, _, _ in heard.append(event.socket) }
                    #expect(heard == [number])
                }
                #expect(Foundation.read(number, &byte, 1) == 1 && byte == UInt8(ascii: "x"))
            }
        }

        @Test("A connection without an event of arrival has been silent since it was opened, not for ever")
        func unseenArrival() throws {
            let sockets = try CurlSockets(CurlTransport.Configuration())
            sockets.now = CurlLoop.time()
            let socket = sockets.openSocket(family: AF_INET, type: Int32(SOCK_STREAM.rawValue), protocol: 0)
            defer { _ = sockets.closeSocket(socket) }
            let use = try #require(sockets.join(socket, for: nil, instead: CurlSockets.Use()))
            try #require(sockets.find(.init(localPort: 1, remotePort: 2, remoteAddress: ""), opened: use) == socket)
            for isRetired in [false, true] {
                sockets.now += 20_000_000_000
                sockets.retireSilent(to: nil)
                #expect(sockets.entries[Int(socket)].isRetired == isRetired)
            }
        }

        @Test("One request at a time to 250 hosts opens 250 connections, which are all reused")
        func manyHosts() async throws {
            let server = try LoopbackServer()
            server.route(.get, "/") { _ in .text("there") }
            let port = try #require(server.url.port)
            let hosts = (0..<250).map { "h\($0).example" }
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .direct
            for host in hosts { configuration.resolve["\(host):\(port)"] = ["127.0.0.1"] }
            let transport = try CurlTransport(configuration)
            for _ in 0..<2 {
                for host in hosts {
                    let url = try #require(URL(string: "http://\(host):\(port)/"))
                    let response = try await transport.send(
                        HTTPRequest(.get, url), delivering: .buffered(limit: 1 << 10))
                    #expect(response.status == .ok)
                }
            }
            #expect(server.acceptedConnections == 250)
        }

        @Test("A loop may keep what the other loops leave of the limit, and at least its share")
        func sharesOfLoops() {
            let loads = CurlLoads(sharedLoops: 2, otherLoops: 0, idleConnections: 256)
            #expect(loads.keep(0, on: 0) == 256)
            #expect(loads.keep(200, on: 0) == 256 && loads.keep(1, on: 1) == 128)
            #expect(loads.keep(100, on: 0) == 255 && loads.keep(100, on: 1) == 156)
            let none = CurlLoads(sharedLoops: 2, otherLoops: 1, idleConnections: 0)
            #expect(none.keep(3, on: 2) == 1 && none.keep(0, on: 0) == 1)
        }
    }
#endif
