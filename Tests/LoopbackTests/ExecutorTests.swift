#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    extension Loopback {
        @Suite("Tasks on the engine's threads")
        struct ExecutorTests {
            private let transport: CurlTransport
            private let log = Locked<[String]>([])

            init() throws {
                let log = log
                transport = try CurlTransport(.init(threads: 1), library: CurlLibrary.loaded.get()) { line in
                    log.withLock { $0.append(line) }
                }
            }

            /// The loop of the transport that runs the caller; nil on other threads.
            private func loop() -> ObjectIdentifier? { CurlLoop.current.map(ObjectIdentifier.init) }

            private func block(for duration: Duration) { usleep(UInt32(duration.nanoseconds / 1_000)) }

            private func service(_ server: LoopbackServer, limit: Int = 64) -> NetworkService {
                NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                    $0.transport = transport
                    $0.concurrencyLimit = ConcurrencyLimit(limit)
                }
            }

            @Test("Tasks continue on other threads when the transport is shut down, and lose no job")
            func shutDown() async throws {
                let exchange = try Exchange(transport)
                let request = try exchange.request()
                let count = Locked(0)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<200 {
                        group.addTask(executorPreference: transport.executor) {
                            var kind: NetworkError.Kind?
                            while kind == nil { kind = await exchange.failure(request)?.kind }
                            #expect(kind == .transportShutDown)
                            for _ in 0..<20 { await Task.yield() }
                            count.withLock { $0 += 1 }
                        }
                    }
                    #expect(try await Exchange.eventually { exchange.server.requestCount > 300 })
                    transport.shutDown()
                    try await group.waitForAll()
                }
                #expect(count.withLock { $0 } == 200)
                let kind = await withTaskExecutorPreference(transport.executor) {
                    await exchange.failure(request)?.kind
                }
                #expect(kind == .transportShutDown)
            }

            @Test(
                "A task on the engine's thread can shut the transport down, at once or draining",
                arguments: [true, false])
            func shutDownFromTask(drains: Bool) async throws {
                let exchange = try Exchange(transport)
                let request = try exchange.request()
                let kind = try await withTaskExecutorPreference(transport.executor) {
                    _ = try await exchange.send(request)
                    #expect(loop() != nil)
                    if drains { await transport.shutDown(draining: .seconds(5)) } else { transport.shutDown() }
                    return await exchange.failure(request)?.kind
                }
                #expect(kind == .transportShutDown)
            }

            @Test("A task that refers to a transport last can release it on the engine's thread")
            func lastReference() async throws {
                let server = try LoopbackServer { _ in .text("hello") }
                let other = Locked<CurlTransport?>(nil)
                let executor = try {
                    let transport = try CurlTransport()
                    other.withLock { $0 = transport }
                    return transport.executor
                }()
                let text = try await withTaskExecutorPreference(executor) {
                    let text = try await other.withLock { $0 }?.send(
                        HTTPRequest(.get, server.url), delivering: .buffered(limit: 9)
                    ).text
                    #expect(loop() != nil)
                    other.withLock { $0 = nil }
                    await Task.yield()
                    return text
                }
                #expect(text == "hello")
            }

            @Test(
                "A job that blocks the thread is reported once, while it blocks or when it ends",
                arguments: [true, false])
            func blocked(isUsed: Bool) async throws {
                let exchange = try Exchange(transport)
                let request = try exchange.request()
                async let blocking: Void = withTaskExecutorPreference(transport.executor) {
                    block(for: .milliseconds(1_000))
                }
                if isUsed {
                    // Each call adds a command, and waits until the job ends.
                    for _ in 0..<10 {
                        try await Task.sleep(for: .milliseconds(50))
                        Task { [transport] in _ = try await transport.send(request, delivering: .buffered(limit: 9)) }
                    }
                    #expect(log.withLock { $0.count } == 1)
                }
                await blocking
                #expect(try await Exchange.eventually { log.withLock { $0.count } == 1 })
                _ = try await exchange.send(request)
                #expect(log.withLock { $0.count } == 1)
                #expect(log.withLock { $0.first }?.hasPrefix("a job blocks the engine") == true)
            }

            @Test("Thousands of cancelled calls end, and the next call succeeds")
            func cancelStorm() async throws {
                let exchange = try Exchange(transport) { request in
                    request.path == "/" ? .text("hello") : .text("never").failing(.stallBeforeHead)
                }
                let request = try exchange.request(.get, "/never")
                let kinds = await withTaskGroup(of: NetworkError.Kind?.self) { group in
                    for _ in 0..<2_000 {
                        group.addTask(executorPreference: transport.executor) { await exchange.failure(request)?.kind }
                    }
                    _ = try? await Exchange.eventually { exchange.server.requestCount >= 100 }
                    group.cancelAll()
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(kinds.count == 2_000)
                #expect(kinds.allSatisfy { $0 == .cancelled })
                let next = try exchange.request()
                let text = try await withTaskExecutorPreference(transport.executor) {
                    try await exchange.send(next).text
                }
                #expect(text == "hello")
            }

            @Test("Tasks that yield without an end do not stop the calls")
            func fairness() async throws {
                let exchange = try Exchange(transport)
                let request = try exchange.request()
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<50 {
                        group.addTask(executorPreference: transport.executor) {
                            while !Task.isCancelled { await Task.yield() }
                        }
                    }
                    for _ in 0..<20 { #expect(await exchange.failure(request) == nil) }
                    group.cancelAll()
                }
            }

            @Test("A thousand calls wait for four permits, and each ends once, in its order")
            func permits() async throws {
                let server = try LoopbackServer { request in .text(request.path) }
                let service = service(server, limit: 4)
                let order = Locked<[Int]>([])
                try await withTaskExecutorPreference(transport.executor) {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 0..<1_000 {
                            group.addTask {
                                let text = try await service.request(.get("\(number)"), as: .string)
                                #expect(text == "/\(number)")
                                order.withLock { $0.append(number) }
                            }
                        }
                        try await group.waitForAll()
                    }
                }
                let ended = order.withLock { $0 }
                #expect(ended.sorted() == Array(0..<1_000))
                #expect(server.acceptedConnections <= 4)
                // Up to four calls are in progress at the same time, so one can end some places earlier or later.
                let places = ended.enumerated().map { abs($0.offset - $0.element) }
                #expect(places.allSatisfy { $0 < 100 })
            }

            @Test("A call is made, sent, received and read on one thread of the transport")
            func oneThread() async throws {
                let server = try LoopbackServer { _ in .text("hello") }
                let service = service(server)
                let threads = try await withTaskExecutorPreference(transport.executor) {
                    let before = loop()
                    let text = try await service.request(.get("a"), as: .string)
                    #expect(text == "hello")
                    let after = loop()
                    async let child = loop()
                    return [before, after, await child]
                }
                #expect(threads[0] != nil)
                #expect(threads.allSatisfy { $0 == threads[0] })
            }

            @Test("Streams, files and sockets work on the engine's threads")
            func kinds() async throws {
                let server = try LoopbackServer { request in
                    guard request.path == "/chat" else { return .text(String(repeating: "x", count: 3 << 20)) }
                    return .webSocket { socket in while let text = try socket.receive() { try socket.send(text) } }
                }
                let service = service(server)
                try await withTaskExecutorPreference(transport.executor) {
                    let response = try await transport.send(
                        HTTPRequest(.get, server.url.appending(path: "body")), delivering: .streamed)
                    var count = 0
                    if case .stream(let body) = response.content {
                        for try await bytes in body { count += bytes.count }
                    }
                    #expect(count == 3 << 20)
                    let socket = service.webSocket(.get("chat"))
                    var reader = socket.makeAsyncIterator()
                    for number in 0..<50 {
                        try await socket.send("\(number)")
                        #expect(try await reader.next() == .text("\(number)"))
                    }
                    await socket.close()
                    #expect(loop() != nil)
                }
            }
        }
    }
#endif
