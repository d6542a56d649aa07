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

            private func service(
                _ server: LoopbackServer, on other: CurlTransport? = nil, limit: Int = 64
            ) -> NetworkService {
                NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                    $0.transport = other ?? transport
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
                            // A continuation may be resumed before the task waits for it, so that the task stays.
                            for _ in 0..<10_000 where loop() != nil { await Task.yield() }
                            #expect(loop() == nil)
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

            @Test("A job that blocks the thread is reported while it blocks, and once")
            func blocked() async throws {
                let exchange = try Exchange(transport)
                let request = try exchange.request()
                let isSeen = Locked(false)
                let blocking = Task(executorPreference: transport.executor) {
                    for _ in 0..<2_000 where !isSeen.withLock({ $0 }) { block(for: .milliseconds(10)) }
                }
                // Each call adds a command, and waits until the job ends.
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<500 where log.withLock({ $0.isEmpty }) {
                        try await Task.sleep(for: .milliseconds(20))
                        group.addTask { _ = try await exchange.send(request) }
                    }
                    #expect(log.withLock { $0.first }?.hasPrefix("a job blocks the engine") == true)
                    isSeen.withLock { $0 = true }
                    await blocking.value
                    try await group.waitForAll()
                }
                #expect(log.withLock { $0.count } == 1)
            }

            @Test("A job that has blocked the thread is reported when it ends, but not twice in a minute")
            func blockedAlone() async throws {
                for _ in 0..<2 {
                    await withTaskExecutorPreference(transport.executor) { block(for: .milliseconds(300)) }
                    #expect(try await Exchange.eventually { log.withLock { $0.count } == 1 })
                }
            }

            @Test("Calls whose responses arrive while a job blocks the thread do not time out")
            func blockedResponses() async throws {
                let exchange = try Exchange(transport) { _ in .text("hello").delayed(by: .seconds(1)) }
                let request = HTTPRequest(.get, exchange.server.url, timeouts: .init(idle: .seconds(2)))
                let kinds = try await withThrowingTaskGroup(of: NetworkError.Kind?.self) { group in
                    for _ in 0..<300 { group.addTask { await exchange.failure(request)?.kind } }
                    #expect(try await Exchange.eventually { exchange.server.requestCount == 300 })
                    await withTaskExecutorPreference(transport.executor) { block(for: .milliseconds(2_500)) }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(kinds.count == 300)
                #expect(kinds.allSatisfy { $0 == nil })
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
                    _ = try? await Exchange.eventually(within: .seconds(5)) { exchange.server.requestCount >= 100 }
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
                let start = ContinuousClock.now
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<50 {
                        group.addTask(executorPreference: transport.executor) {
                            while !Task.isCancelled { await Task.yield() }
                        }
                    }
                    for _ in 0..<20 { #expect(await exchange.failure(request) == nil) }
                    group.cancelAll()
                }
                #expect(ContinuousClock.now - start < .seconds(10))
            }

            @Test("A thousand calls wait for permits on one thread or two, and each ends once", arguments: [1, 2])
            func permits(threads: Int) async throws {
                let server = try LoopbackServer { request in .text(request.path) }
                let transport = threads == 1 ? transport : try CurlTransport(.init(threads: threads))
                let service = service(server, on: transport, limit: 4 * threads)
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
                #expect(server.acceptedConnections <= 4 * threads)
                // Several calls are in progress at the same time, so one can end some places earlier or later. Two
                // threads do not advance at the same speed.
                guard threads == 1 else { return }
                let places = ended.enumerated().map { abs($0.offset - $0.element) }
                #expect(places.allSatisfy { $0 < 100 })
            }

            @Test("A call is made, sent, received and read on one thread of the transport")
            func oneThread() async throws {
                let server = try LoopbackServer { _ in .text("hello") }
                let service = service(server)
                let outside = loop()
                let threads = try await withTaskExecutorPreference(transport.executor) {
                    let before = loop()
                    let text = try await service.request(.get("a"), as: .string)
                    #expect(text == "hello")
                    let after = loop()
                    async let child = loop()
                    return [before, after, await child]
                }
                #expect(threads[0] != outside)
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
