#if os(Linux)
    import Foundation
    import Networking
    import NetworkingTesting
    import Testing

    extension Loopback {
        /// The transport repeats a request only if the server cannot have processed it, or if repeating is harmless.
        @Suite("Repeated requests")
        struct RepeatedRequestTests {
            /// A server behind nginx that counts the requests of each path.
            private final class CountingBackend: Sendable {
                private let counts = Box<[String: Int]>([:])

                func server() throws -> LoopbackServer {
                    try LoopbackServer { [counts] request in
                        _ = try await request.data()
                        counts.change { $0[request.path, default: 0] += 1 }
                        return .text("ok")
                    }
                }

                var executions: [String: Int] { counts.value }
            }

            /// Sends requests to distinct paths, 64 at once. A request that the server has not processed is sent again.
            ///
            /// - Returns: The errors.
            private func send(
                _ method: HTTPMethod, _ count: Int, to url: URL, on transport: CurlTransport
            ) async -> [NetworkError] {
                await withTaskGroup(of: [NetworkError].self) { group in
                    for worker in 0..<64 {
                        group.addTask {
                            var errors: [NetworkError] = []
                            for index in stride(from: worker, to: count, by: 64) {
                                let body: HTTPBody = method == .post ? .string(#"{"name":"value"}"#) : .empty
                                let target = url.appendingPathComponent("p/\(index)")
                                let request = HTTPRequest(
                                    method, target, body: body, timeouts: .init(idle: .seconds(20)))
                                for attempt in 0..<50 {
                                    do {
                                        _ = try await transport.send(request, delivering: .buffered(limit: 1 << 16))
                                        break
                                    } catch {
                                        let error = (error as? NetworkError) ?? NetworkError(.unknown)
                                        if error.kind != .notProcessed || attempt == 49 { errors.append(error) }
                                        if error.kind != .notProcessed { break }
                                    }
                                }
                            }
                            return errors
                        }
                    }
                    return await group.reduce(into: []) { $0 += $1 }
                }
            }

            @Test(
                "If nginx ends each connection after 20 requests and refused ones are repeated, each is executed once",
                .enabled(if: Tool.nginx.isExpected, Tool.nginx.comment),
                arguments: [(HTTPMethod.post, true), (.get, true), (.post, false), (.get, false)])
            func exactlyOnce(method: HTTPMethod, isHTTP2: Bool) async throws {
                let backend = CountingBackend()
                let server = try backend.server()
                let nginx = try await Nginx(
                    isHTTP2: isHTTP2, keepaliveRequests: 20, locations: "location / { proxy_pass \(server.url); }")
                let count = 1_000
                let errors = await send(method, count, to: nginx.url, on: try nginx.transport())
                #expect(errors.isEmpty, "\(errors.count) of \(count) failed: \(errors.prefix(2))")
                #expect(backend.executions.count == count)
                #expect(backend.executions.values.allSatisfy { $0 == 1 })
            }

            @Test(
                "A server that responds before it has received the body processes no POST twice",
                .enabled(if: Tool.nginx.isExpected, Tool.nginx.comment), arguments: [true, false])
            func actsOnHead(isHTTP2: Bool) async throws {
                let nginx = try await Nginx(
                    isHTTP2: isHTTP2, keepaliveRequests: 20, locations: "location / { return 200 ok; }")
                _ = await send(.post, 2_000, to: nginx.url, on: try nginx.transport())
                let processed = try nginx.processed()
                #expect(processed.count > 1_900)
                #expect(processed.filter { $0.value > 1 }.isEmpty)
            }

            @Test("All of 1,000 GETs succeed although the server closes each connection at its second request")
            func droppedConnections() async throws {
                let server = try RawServer { connection in
                    guard connection.readHead() else { return }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    _ = connection.readHead()
                }
                let transport = try CurlTransport(CurlTransport.Configuration(threads: 1))
                var failures: [any Error] = []
                for _ in 0..<1_000 {
                    do {
                        _ = try await transport.send(
                            HTTPRequest(.get, server.url), delivering: .buffered(limit: 1 << 10))
                    } catch { failures.append(error) }
                }
                #expect(failures.isEmpty, "\(failures.count) failed: \(failures.prefix(1))")
            }

            @Test("A POST is sent once if its reused connection is reset after the head", arguments: [true, false])
            func resetAfterHead(hasBody: Bool) async throws {
                let heads = Box(0)
                let server = try RawServer { connection in
                    guard connection.readHead() else { return }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    guard connection.readHead() else { return }
                    heads.change { $0 += 1 }
                    connection.resetOnClose()
                }
                for _ in 0..<40 {
                    let transport = try CurlTransport(CurlTransport.Configuration(threads: 1))
                    let first = HTTPRequest(.get, server.url)
                    _ = try await transport.send(first, delivering: .buffered(limit: 1 << 10))
                    heads.change { $0 = 0 }
                    let body: HTTPBody = hasBody ? .string("text") : .empty
                    let post = HTTPRequest(.post, server.url, body: body, timeouts: .init(idle: .seconds(15)))
                    do {
                        _ = try await transport.send(post, delivering: .buffered(limit: 1 << 10))
                        // libcurl did not reuse the connection. The POST was the first request of a new connection, and
                        // `heads` does not count first requests.
                        #expect(heads.value == 0)
                    } catch {
                        #expect((error as? NetworkError)?.kind == .connectionLostBeforeHead, "\(error)")
                        #expect(heads.value == 1)
                    }
                }
            }
        }
    }
#endif
