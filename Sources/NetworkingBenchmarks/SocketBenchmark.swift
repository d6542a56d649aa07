#if os(Linux)
    import Foundation
    import Networking
    import NetworkingTesting

    /// Measures WebSockets: an echo compared with Python's `websockets`, large messages, and idle sockets.
    struct SocketBenchmark: Benchmark {
        let name = "websocket"
        let explanation =
            "WebSockets on loopback: an echo of 1 KiB messages, beside Python's websockets as a client of the same "
            + "server; messages of 64 MiB; 2,000 sockets that are idle."

        func run(_ report: Report, isQuick: Bool) async throws {
            let count = isQuick ? 200 : 2_000
            HangingBenchmark.allowDescriptors(2 * count + 1_000)
            let server = try ServerProcess(["serve-sockets"])
            let transport = try NetworkingBenchmarks.makeTransport()
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.transport = transport
            }
            let options = WebSocket.Options {
                $0.compresses = false
                $0.maximumMessageSize = 256 << 20
            }
            let open = { (path: EndpointPath) in
                service.webSocket(.get(path), options, reconnecting: .never)
            }
            for connections in [1, 64] {
                try await race(report, connections, isQuick, server.url) { open("echo") }
            }
            try await large(report, isQuick ? 16 << 20 : 64 << 20, open)
            try await idle(report, count, isQuick) { open("echo") }
        }

        /// Lets the library and Python send and receive messages alternately, on the same number of connections.
        private func race(
            _ report: Report, _ connections: Int, _ isQuick: Bool, _ url: URL, _ open: () -> WebSocket
        ) async throws {
            let each = (isQuick ? 2_560 : 32_000) / connections
            var (ours, theirs): ([Measurement], [Measurement]) = ([], [])
            for _ in 0..<(isQuick ? 1 : 5) {
                ours.append(try await echo(on: (0..<connections).map { _ in open() }, each))
                if let python = try echoOfPython(url, connections, each) { theirs.append(python) }
            }
            for (subject, all) in [("CurlTransport", ours), ("Python websockets", theirs)] {
                guard !all.isEmpty else {
                    report.say("Python's websockets is not installed: no comparison.")
                    continue
                }
                report.add(
                    Row(
                        subject: subject, concurrency: connections,
                        cpuMicrosecondsPerCall: all.map(\.microsecondsPerCall).median,
                        callsPerSecond: all.map(\.callsPerSecond).median, wall: all.map(\.wall).median))
            }
        }

        private func echo(on sockets: [WebSocket], _ count: Int) async throws -> Measurement {
            for socket in sockets { try await socket.connect() }
            let message = WebSocketMessage.binary(Data(repeating: 7, count: 1_024))
            let result = try await Measurement.of {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for socket in sockets {
                        group.addTask {
                            var reader = socket.makeAsyncIterator()
                            for _ in 0..<count {
                                try await socket.send(message)
                                guard try await reader.next() == message else { throw URLError(.badServerResponse) }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                return count * sockets.count
            }
            for socket in sockets { await socket.close() }
            return result
        }

        /// - Returns: Nil if Python, or its library, is not installed.
        private func echoOfPython(_ url: URL, _ connections: Int, _ count: Int) throws -> Measurement? {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [
                "python3", "-c", SocketBenchmark.script, "\(url.port ?? 0)", "\(connections)", "\(count)",
            ]
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            let times = text.split(separator: " ").compactMap {
                Double($0.trimmingCharacters(in: .whitespacesAndNewlines))
            }
            guard times.count == 2 else { return nil }
            return Measurement(calls: connections * count, wall: times[0], processor: times[1])
        }

        private static let script = """
            import asyncio, sys, time
            import websockets.speedups
            from websockets.asyncio.client import connect
            port, connections, count = map(int, sys.argv[1:])
            async def talk(socket):
                message = bytes([7]) * 1024
                for _ in range(count):
                    await socket.send(message)
                    assert await socket.recv() == message
            async def main():
                sockets = [await connect(f"ws://127.0.0.1:{port}/echo", compression=None) for _ in range(connections)]
                wall, processor = time.perf_counter(), time.process_time()
                await asyncio.gather(*map(talk, sockets))
                print(time.perf_counter() - wall, time.process_time() - processor)
                for socket in sockets: await socket.close()
            asyncio.run(main())
            """

        /// Measures the memory for large messages, one at a time.
        private func large(_ report: Report, _ size: Int, _ open: (EndpointPath) -> WebSocket) async throws {
            let message = Data(repeating: 7, count: size)
            for isSending in [false, true] {
                let socket = open(isSending ? "sink" : "source/\(size)")
                try await socket.connect()
                var reader = socket.makeAsyncIterator()
                let (before, begun) = (Measurement.residentKiB, ContinuousClock.now)
                Measurement.forgetPeak()
                for _ in 0..<3 {
                    try await socket.send(isSending ? .binary(message) : .text("next"))
                    let answer = try await reader.next()
                    guard answer?.data.count == (isSending ? 2 : size) else { throw URLError(.badServerResponse) }
                }
                let wall = (ContinuousClock.now - begun) / .seconds(1) / 3
                let growth = Measurement.peakResidentKiB - before + (isSending ? size >> 10 : 0)
                let times = Double(growth) * 1_024 / Double(size)
                report.add(
                    Row(
                        subject: isSending ? "send \(size >> 20) MiB" : "receive \(size >> 20) MiB", wall: wall,
                        residentGrowthKiB: growth,
                        note: String(
                            format: "%.2f times the message, %.0f MiB/s", times, Double(size >> 20) / wall)))
                guard times <= 2.2 else { throw URLError(.dataLengthExceedsMaximum) }
                await socket.close()
            }
        }

        private func idle(
            _ report: Report, _ count: Int, _ isQuick: Bool, _ open: () -> WebSocket
        ) async throws {
            let before = Measurement.residentKiB
            let begun = ContinuousClock.now
            let sockets = (0..<count).map { _ in open() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for socket in sockets { group.addTask { try await socket.connect() } }
                try await group.waitForAll()
            }
            let wall = (ContinuousClock.now - begun) / .seconds(1)
            try await Task.sleep(for: .seconds(1))
            let growth = Measurement.residentKiB - before
            // Long enough for two pings of each socket, at the default interval.
            let idle = try await Measurement.of {
                try await Task.sleep(for: .seconds(isQuick ? 2 : 60))
                return count
            }
            let isOpen = sockets.allSatisfy { $0.state == .open }
            guard isOpen else { throw URLError(.networkConnectionLost) }
            report.add(
                Row(
                    subject: "idle", concurrency: count, wall: wall, residentGrowthKiB: growth,
                    note: String(
                        format: "%.2f %% of a core, %.1f KiB each", idle.processor / idle.wall * 100,
                        Double(growth) / Double(count))))
            for socket in sockets { await socket.close() }
        }
    }

    /// The server of the benchmark, in a process of its own, so that its threads and memory are not counted.
    enum SocketServer {
        static func run() throws {
            let server = try LoopbackServer { request in
                let parts = request.path.split(separator: "/")
                let size = parts.last.flatMap { Int($0) } ?? 0
                return .webSocket(compressing: false) { socket in
                    let large = Data(repeating: 7, count: size)
                    while let message = try socket.receive() {
                        switch parts.first {
                        case "source": try socket.send(.binary(large))
                        case "sink": try socket.send("ok")
                        default: try socket.send(message)
                        }
                    }
                }
            }
            HangingBenchmark.allowDescriptors(10_000)
            print(server.port)
            fflush(nil)
            while readLine() != nil {}
        }
    }
#endif
