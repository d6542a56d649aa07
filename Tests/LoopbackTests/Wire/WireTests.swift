import Testing

extension Loopback {
    /// Requests and responses byte for byte, in the manner of curl's own tests.
    @Suite("Wire cases")
    struct WireTests {
        @Test("Requests: methods, targets, fields and bodies", arguments: WireRun.all(WireCase.requests))
        func requests(_ run: WireRun) async throws { try await run.check() }

        @Test("Responses: status lines, lengths, chunks and ends", arguments: WireRun.all(WireCase.responses))
        func responses(_ run: WireRun) async throws { try await run.check() }

        @Test("Redirects: targets, methods and bodies", arguments: WireRun.all(WireCase.redirects))
        func redirects(_ run: WireRun) async throws { try await run.check() }

        @Test("Connections: kept, closed, lost and repeated", arguments: WireRun.all(WireCase.connections))
        func connections(_ run: WireRun) async throws { try await run.check() }

        @Test("Cookies between requests", arguments: WireRun.all(WireCase.cookies))
        func cookies(_ run: WireRun) async throws { try await run.check() }

        @Test("There are at least 120 cases, and each has its own name")
        func count() {
            let all =
                WireCase.requests + WireCase.responses + WireCase.redirects + WireCase.connections + WireCase.cookies
            #expect(all.count >= 120)
            #expect(Set(all.map(\.name)).count == all.count)
        }
    }
}
