import Foundation
import NetworkingTesting
import Testing

@testable import Networking

extension Loopback {
    @Suite("A part is never the whole")
    struct PartTests {
        private let scratch = Result { try Scratch() }
        private let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

        private func service(
            _ engine: Engine, _ answer: @escaping @Sendable (LoopbackRequest, Data) -> LoopbackResponse
        ) throws -> (NetworkService, LoopbackServer) {
            let content = content
            let server = try LoopbackServer { answer($0, content) }
            let transport = try engine.make()
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.transport = transport
                $0.errorMapping = .unmapped
            }
            return (service, server)
        }

        private func failure(_ call: () async throws -> Void) async -> NetworkError? {
            do { try await call() } catch { return error as? NetworkError }
            return nil
        }

        @Test(
            "A part that was not asked for is an error, into memory, as a stream and into a file",
            arguments: Engine.allCases, [HTTPStatus.ok, .partialContent])
        func unasked(engine: Engine, status: HTTPStatus) async throws {
            let (service, server) = try service(engine) { _, content in
                LoopbackResponse(
                    status, headers: [.contentRange: "bytes 0-999/100000"], body: Data(content.prefix(1_000)))
            }
            let target = try scratch.get().file("whole")
            for rule in [FileDestination.ResumeRule.never, .sameAddress] {
                let error = await failure {
                    _ = try await service.request(.get("f"), as: .file(at: target, resuming: rule))
                }
                #expect(error?.kind == .truncatedBody || error?.kind == .malformedResponse)
                #expect(!FileManager.default.fileExists(atPath: target.path))
            }
            let asData = await failure { _ = try await service.request(.get("f"), as: .data) }
            #expect(asData?.kind == .truncatedBody)
            #expect(asData?.reason?.contains("bytes 0-999/100000") == true)
            let asStream = await failure { _ = try await service.request(.get("f"), as: .stream) }
            #expect(asStream?.kind == .truncatedBody)
            // The app may ask for a part.
            let part = try await service.request(.get("f").header(.range, "bytes=0-999"), as: .data)
            #expect(part.count == 1_000)
            withExtendedLifetime(server) {}
        }

        @Test(
            "A part that is the whole content is a success", arguments: Engine.allCases,
            ["bytes 0-99999/100000", "bytes 0-99999/*", "x"])
        func whole(engine: Engine, range: String) async throws {
            let (service, server) = try service(engine) { _, content in
                LoopbackResponse(.ok, headers: [.contentRange: range], body: content)
            }
            #expect(try await service.request(.get("f"), as: .data) == content)
            withExtendedLifetime(server) {}
        }

        @Test(
            "A server that answers a range request with 200 and the rest gets another request, for the whole file",
            arguments: Engine.allCases)
        func sliceWith200(engine: Engine) async throws {
            let ranges = Box<[String?]>([])
            let (service, server) = try service(engine) { request, content in
                ranges.change { $0.append(request.headers[.range]) }
                switch ranges.value.count {
                case 1:
                    return LoopbackResponse(.ok, headers: [.eTag: "\"v1\""], body: content)
                        .failing(.resetMidBody(after: 40_000))
                case 2:
                    return LoopbackResponse(
                        .ok, headers: [.eTag: "\"v1\"", .contentRange: "bytes 40000-99999/100000"],
                        body: Data(content.dropFirst(40_000)))
                default: return LoopbackResponse(.ok, headers: [.eTag: "\"v1\""], body: content)
                }
            }
            let target = try scratch.get().file("whole")
            let call = AdHocEndpoint.get("f").settings { $0.retry = RetryPolicy(retries: 2) }
            _ = try await service.request(call, as: .file(at: target, resuming: .sameAddress))
            #expect(try Data(contentsOf: target) == content)
            #expect(ranges.value.count == 3 && ranges.value[1] != nil && ranges.value[2] == nil)
            withExtendedLifetime(server) {}
        }

        @Test(
            "A transfer coding determines the end of a file, and Content-Length is ignored", arguments: Engine.allCases,
            [3, 123])
        func transferCoding(engine: Engine, length: Int) async throws {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nTransfer-Encoding: chunked\r\n\r\n"
            let (service, server) = try service(engine) { _, _ in
                LoopbackResponse(content: .raw(Data("\(head)5\r\nhello\r\n0\r\n\r\n".utf8)))
            }
            let target = try scratch.get().file("whole")
            _ = try await service.request(.get("f"), as: .file(at: target))
            #expect(try Data(contentsOf: target) == Data("hello".utf8))
            withExtendedLifetime(server) {}
        }

        @Test("A 304 and a response to HEAD with a Content-Length are empty files", arguments: Engine.allCases)
        func noBody(engine: Engine) async throws {
            let (service, server) = try service(engine) { request, _ in
                let status = request.method == .head ? "200 OK" : "304 Not Modified"
                return LoopbackResponse(content: .raw(Data("HTTP/1.1 \(status)\r\nContent-Length: 9\r\n\r\n".utf8)))
            }
            for (number, method) in [HTTPMethod.get, .head].enumerated() {
                let target = try scratch.get().file("empty\(number)")
                let call = AdHocEndpoint(method, "f").settings { $0.validators = [] }
                _ = try await service.request(call, as: .file(at: target))
                #expect(try Data(contentsOf: target).isEmpty)
            }
            withExtendedLifetime(server) {}
        }
    }
}
