import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    /// The status of a response counts from its head: a 401 or a 404 whose body is damaged or stalls is a 401 or a 404.
    @Suite("Bodies of rejected responses")
    struct RejectedBodyTests {
        /// What happens to a body after the head of its response.
        enum Fault: String, CaseIterable, CustomTestStringConvertible {
            case cutOff = "cut off"
            case stalled
            case badGzip = "bad gzip"
            case badChunk = "bad chunk"

            var testDescription: String { rawValue }

            /// The rest of the response after its status line.
            var rest: String {
                switch self {
                case .cutOff, .stalled: "Content-Length: 100\r\n\r\nno"
                case .badGzip: "Content-Encoding: gzip\r\nContent-Length: 7\r\n\r\nno gzip"
                case .badChunk: "Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\nzz\r\n"
                }
            }

            /// Sends a response with a status, with this fault.
            func send(_ status: Int, with fields: String = "", on connection: RawServer.Connection) {
                connection.write("HTTP/1.1 \(status) X\r\n\(fields)\(rest)")
                if self == .stalled { _ = connection.available(within: 20_000) }
            }
        }

        /// A service whose first request gets a response with a fault, and whose later requests get `ok`.
        private struct Trial {
            let server: RawServer
            let clock = ManualClock()
            let connections = Box(0)
            let refreshes = Box(0)
            let service: NetworkService

            init(_ engine: Engine, _ status: Int, _ fault: Fault) throws {
                try self.init(engine) { fault.send(status, on: $0) }
            }

            init(_ engine: Engine, first respond: @escaping @Sendable (RawServer.Connection) -> Void) throws {
                let (connections, refreshes, clock) = (connections, refreshes, clock)
                server = try RawServer { connection in
                    guard connection.readHead() else { return }
                    connections.change { $0 += 1 }
                    guard connection.number > 0 else { return respond(connection) }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
                }
                let session = AccessTokenSupervisor(token: AccessToken("old"), clock: clock.networkClock) { _ in
                    refreshes.change { $0 += 1 }
                    return AccessToken("new")
                }
                let transport = try engine.make()
                service = NetworkService(
                    environment: NetworkEnvironment(baseURL: server.url), authorizedBy: session
                ) {
                    $0.transport = transport
                    $0.clock = clock.networkClock
                    $0.retry = RetryPolicy(retries: 2)
                }
            }

            /// Calls the service. If the body stalls, the time of the service's clock passes until the call has ended.
            func call(_ endpoint: AdHocEndpoint, _ fault: Fault) async throws -> Result<String, any Error> {
                let isOver = Box(false)
                async let result = {
                    let result = await answer(to: endpoint)
                    isOver.change { $0 = true }
                    return result
                }()
                if fault == .stalled { try await clock.advance(by: .milliseconds(100)) { isOver.value } }
                return await result
            }

            func answer(to endpoint: AdHocEndpoint) async -> Result<String, any Error> {
                do { return .success(try await service.request(endpoint, as: .string)) } catch {
                    return .failure(error)
                }
            }
        }

        @Test("A 401 starts a refresh, whatever happens to its body", arguments: Engine.allCases, Fault.allCases)
        func unauthorized(engine: Engine, fault: Fault) async throws {
            let trial = try Trial(engine, 401, fault)
            #expect(try await trial.call(.get("x").authorized(), fault).get() == "ok")
            #expect(trial.refreshes.value == 1)
            #expect(trial.connections.value == 2)
        }

        @Test(
            "A 404 is notFound, and is not retried, whatever happens to its body", arguments: Engine.allCases,
            Fault.allCases)
        func notFound(engine: Engine, fault: Fault) async throws {
            let trial = try Trial(engine, 404, fault)
            guard case .failure(let error) = try await trial.call(.get("x"), fault) else {
                Issue.record("the call has succeeded")
                return
            }
            #expect(error as? GeneralRequestError == .notFound)
            #expect(trial.connections.value == 1)
            let cause = try #require((error as? GeneralRequestError)?.cause)
            #expect(cause.kind == .unacceptableStatus)
            #expect(cause.reason?.hasPrefix("404 Not Found; its body was cut off after ") == true, "\(cause)")
            if fault == .cutOff { #expect(cause.response.map { String(decoding: $0.data, as: UTF8.self) } == "no") }
            if fault == .stalled { #expect(cause.reason?.hasSuffix("no byte for 5 s") == true, "\(cause)") }
        }

        /// Foundation on Linux reports the head of a redirect only when its body has ended, and never if the body is
        /// damaged (with some versions of libcurl, not even if it is cut off).
        private static let redirects = Engine.allCases.filter { $0 != .urlSessionOnLinux }
            .flatMap { engine in Fault.allCases.map { (engine, $0) } }

        @Test("A redirect is followed, whatever happens to its body", arguments: redirects)
        func redirect(engine: Engine, fault: Fault) async throws {
            for validators in [[ResponseValidator].standard, [ResponseValidator]()] {
                // Without validators, the idle timeout ends a body that stalls.
                guard fault != .stalled || !validators.isEmpty else { continue }
                let trial = try Trial(engine) { fault.send(302, with: "Location: /y\r\n", on: $0) }
                let call = AdHocEndpoint.get("x").settings { $0.validators = validators }
                #expect(try await trial.call(call, fault).get() == "ok")
                #expect(trial.connections.value == 2)
            }
        }

        @Test(
            "A 401 with a challenge starts a refresh, also if the idle timeout ends its body",
            arguments: Engine.allCases, Fault.allCases)
        func challenge(engine: Engine, fault: Fault) async throws {
            let trial = try Trial(engine) { fault.send(401, with: "WWW-Authenticate: Bearer\r\n", on: $0) }
            let call = AdHocEndpoint.get("x").authorized().settings { $0.timeouts.idle = .milliseconds(400) }
            #expect(try await trial.answer(to: call).get() == "ok")
            #expect(trial.refreshes.value == 1)
        }

        @Test(
            "Without validators, a body is read whole, and a body that is cut off is an error",
            arguments: Engine.allCases)
        func noValidators(engine: Engine) async throws {
            let size = 3 << 19
            let whole = try Trial(engine) { connection in
                connection.write(
                    "HTTP/1.1 404 X\r\nContent-Length: \(size)\r\n\r\n" + String(repeating: "x", count: size))
            }
            let settings = RequestSettings {
                $0.validators = []
                $0.retry = .never
            }
            #expect(try await whole.service.request(.get("x"), as: .data, with: settings).count == size)
            let cut = try Trial(engine, 404, .cutOff)
            let error = await failure { _ = try await cut.service.request(.get("x"), as: .data, with: settings) }
            #expect(error?.kind == .truncatedBody)
            #expect(error?.status == .notFound)
        }

        @Test(
            "A 429 whose body stalls closes the gate before the body ends",
            arguments: Engine.allCases.filter { $0 != .urlSessionOnLinux })  // which may report a head late
        func gate(engine: Engine) async throws {
            let trial = try Trial(engine) { Fault.stalled.send(429, with: "Retry-After: 9\r\n", on: $0) }
            let gate = try #require(trial.service.client.configuration.backoffGate)
            let origin = try #require(HTTPOrigin(trial.server.url))
            let task = trial.service.task(.get("x"), as: .string)
            while gate.wait(for: origin) == nil { try await Task.sleep(for: .milliseconds(5)) }
            #expect(trial.service.client.runningCallCount == 1)
            task.cancel()
            _ = await failure { _ = try await task.value }
        }

        @Test("The body of a rejected response ends after 1 MiB", arguments: Engine.allCases)
        func size(engine: Engine) async throws {
            let trial = try Trial(engine) { connection in
                connection.write("HTTP/1.1 500 X\r\n\r\n" + String(repeating: "x", count: 3 << 19))
            }
            let settings = RequestSettings { $0.retry = .never }
            let error = await failure { _ = try await trial.service.request(.get("x"), as: .data, with: settings) }
            #expect(error?.kind == .unacceptableStatus)
            #expect(error?.response?.data.count == 1 << 20)
            #expect(error?.reason?.contains("its body was cut off after 1048576 bytes: ") == true, "\(error as Any)")
        }

        @Test("A 200 that is cut off is still an error of the transfer", arguments: Engine.allCases)
        func success(engine: Engine) async throws {
            let trial = try Trial(engine, 200, .cutOff)
            let settings = RequestSettings { $0.retry = .never }
            let error = await failure { _ = try await trial.service.request(.get("x"), as: .data, with: settings) }
            #expect(error?.kind == .truncatedBody)
        }

        @Test("A download reads the page of an error, whatever happens to it", arguments: Engine.allCases)
        func download(engine: Engine) async throws {
            let trial = try Trial(engine, 404, .cutOff)
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
            let error = await failure { _ = try await trial.service.request(.get("x"), as: .file(at: file)) }
            #expect(error?.kind == .unacceptableStatus)
            #expect(error?.reason?.hasPrefix("404 Not Found; its body was cut off after 2 bytes: ") == true)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }

        private func failure(_ call: () async throws -> Void) async -> NetworkError? {
            do { try await call() } catch {
                return error as? NetworkError ?? (error as? GeneralRequestError)?.cause
            }
            return nil
        }
    }
}
