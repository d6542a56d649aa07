import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Limits over sockets")
    struct LimitTests {
        @Test("100 downloads at a limit of 4 are never more than 4 files in progress", arguments: Engine.allCases)
        func downloads(engine: Engine) async throws {
            let scratch = try Scratch()
            let most = Box(0)
            let folder = scratch.url.path
            let server = try LoopbackServer { _ in
                LoopbackResponse(
                    content: .written(length: 60_000) { writer in
                        try writer.write(Data(count: 30_000))
                        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                        let parts = names.filter { $0.hasSuffix(".part") }.count
                        most.change { $0 = max($0, parts) }
                        try writer.write(Data(count: 30_000))
                    })
            }
            let transport = try engine.make()
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.transport = transport
                $0.concurrencyLimit = ConcurrencyLimit(4)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        _ = try await service.request(.get("x"), as: .file(at: scratch.file("\(number)")))
                    }
                }
                try await group.waitForAll()
            }
            #expect(most.value <= 4)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 100)
        }

        @Test("1,000 calls at a limit of 64 open at most 64 connections", arguments: Engine.curlOnly)
        func connections(engine: Engine) async throws {
            let body = Data(count: 1 << 20)
            let server = try LoopbackServer { _ in LoopbackResponse(.ok, headers: [], body: body) }
            let transport = try engine.make()
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
                $0.transport = transport
                $0.concurrencyLimit = ConcurrencyLimit(64)
            }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<1_000 { group.addTask { try await service.request(.get("x"), as: .data).count } }
                for try await count in group { #expect(count == body.count) }
            }
            #expect(server.acceptedConnections <= 64)
        }
    }
}
