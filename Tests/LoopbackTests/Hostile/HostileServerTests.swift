import Networking
import Testing

extension Loopback {
    /// Servers that break the rules of HTTP/1.1. Each call ends with the right response, or with an error of the right
    /// kind, in bounded time, and the transport serves other calls afterwards.
    @Suite("Hostile servers")
    struct HostileServerTests {
        @Test("Status lines", arguments: HostileRun.all(HostileCase.statusLines))
        func statusLine(_ run: HostileRun) async throws { try await run.check() }

        @Test("Status codes", arguments: HostileRun.all(HostileCase.statusCodes))
        func statusCode(_ run: HostileRun) async throws { try await run.check() }

        @Test("Reason phrases", arguments: HostileRun.all(HostileCase.reasons))
        func reason(_ run: HostileRun) async throws { try await run.check() }

        @Test("Other protocols", arguments: HostileRun.all(HostileCase.otherProtocols))
        func otherProtocol(_ run: HostileRun) async throws { try await run.check() }

        @Test("Whitespace before the first field", arguments: HostileRun.all(HostileCase.leadingBlanks))
        func leadingBlank(_ run: HostileRun) async throws { try await run.check() }

        @Test("Folded fields", arguments: HostileRun.all(HostileCase.foldedFields))
        func foldedField(_ run: HostileRun) async throws { try await run.check() }

        @Test("Field syntax", arguments: HostileRun.all(HostileCase.fieldSyntax))
        func fieldSyntax(_ run: HostileRun) async throws { try await run.check() }

        @Test("Bytes in fields", arguments: HostileRun.all(HostileCase.fieldBytes))
        func fieldBytes(_ run: HostileRun) async throws { try await run.check() }

        @Test("Large heads", arguments: HostileRun.all(HostileCase.headSizes))
        func headSize(_ run: HostileRun) async throws { try await run.check() }

        @Test("Endless heads", arguments: HostileRun.all(HostileCase.endlessHeads))
        func endlessHead(_ run: HostileRun) async throws { try await run.check() }

        @Test("Slow heads", arguments: HostileRun.all(HostileCase.slowHeads))
        func slowHead(_ run: HostileRun) async throws { try await run.check() }

        @Test("Content-Length", arguments: HostileRun.all(HostileCase.contentLengths))
        func contentLength(_ run: HostileRun) async throws { try await run.check() }

        @Test("Huge Content-Length", arguments: HostileRun.all(HostileCase.hugeLengths))
        func hugeLength(_ run: HostileRun) async throws { try await run.check() }

        @Test("Content-Length that does not match the body", arguments: HostileRun.all(HostileCase.wrongLengths))
        func wrongLength(_ run: HostileRun) async throws { try await run.check() }

        @Test("Content-Length that is overridden", arguments: HostileRun.all(HostileCase.overriddenLengths))
        func overriddenLength(_ run: HostileRun) async throws { try await run.check() }

        @Test("Chunk sizes", arguments: HostileRun.all(HostileCase.chunkSizes))
        func chunkSize(_ run: HostileRun) async throws { try await run.check() }

        @Test("Chunk ends", arguments: HostileRun.all(HostileCase.chunkEnds))
        func chunkEnd(_ run: HostileRun) async throws { try await run.check() }

        @Test("Trailers", arguments: HostileRun.all(HostileCase.trailers))
        func trailer(_ run: HostileRun) async throws { try await run.check() }

        @Test("Transfer codings", arguments: HostileRun.all(HostileCase.transferCodings))
        func transferCoding(_ run: HostileRun) async throws { try await run.check() }

        @Test("Content codings", arguments: HostileRun.all(HostileCase.contentCodings))
        func contentCoding(_ run: HostileRun) async throws { try await run.check() }

        @Test("Unknown content codings", arguments: HostileRun.all(HostileCase.unknownCodings))
        func unknownCoding(_ run: HostileRun) async throws { try await run.check() }

        @Test("Invalid content codings", arguments: HostileRun.all(HostileCase.brokenCodings))
        func brokenCoding(_ run: HostileRun) async throws { try await run.check() }

        @Test("Bytes after a gzip member", arguments: HostileRun.all(HostileCase.gzipEnds))
        func gzipEnd(_ run: HostileRun) async throws { try await run.check() }

        @Test("Bodies that exceed the limit when decompressed", arguments: HostileRun.all(HostileCase.bombs))
        func bomb(_ run: HostileRun) async throws { try await run.check() }

        @Test("Truncated compressed bodies", arguments: HostileRun.all(HostileCase.cutCodings))
        func cutCoding(_ run: HostileRun) async throws { try await run.check() }

        @Test("Informational responses", arguments: HostileRun.all(HostileCase.informational))
        func informational(_ run: HostileRun) async throws { try await run.check() }

        @Test("Responses without a body", arguments: HostileRun.all(HostileCase.bodiless))
        func bodiless(_ run: HostileRun) async throws { try await run.check() }

        @Test("Responses before the upload ends", arguments: HostileRun.all(HostileCase.early))
        func early(_ run: HostileRun) async throws { try await run.check() }

        @Test("Unsolicited bytes", arguments: HostileRun.all(HostileCase.unsolicited))
        func unsolicited(_ run: HostileRun) async throws { try await run.check() }

        @Test("Persistent connections", arguments: HostileRun.all(HostileCase.keepAlive))
        func keepAlive(_ run: HostileRun) async throws { try await run.check() }

        @Test("Silent servers", arguments: HostileRun.all(HostileCase.silence))
        func silence(_ run: HostileRun) async throws { try await run.check() }

        @Test("Redirects", arguments: HostileRun.all(HostileCase.redirects))
        func redirect(_ run: HostileRun) async throws { try await run.check() }

        @Test("Cookies", arguments: HostileRun.all(HostileCase.cookies))
        func cookie(_ run: HostileRun) async throws { try await run.check() }

        @Test("A close inside the head", arguments: HostileRun.all(HostileCase.closedInsideHead))
        func closedInsideHead(_ run: HostileRun) async throws { try await run.check() }

        @Test("A reset inside the head", arguments: HostileRun.all(HostileCase.resetInsideHead))
        func resetInsideHead(_ run: HostileRun) async throws { try await run.check() }

        @Test("A close inside the body", arguments: HostileRun.all(HostileCase.closedInsideBody))
        func closedInsideBody(_ run: HostileRun) async throws { try await run.check() }

        @Test("A reset inside the body", arguments: HostileRun.all(HostileCase.resetInsideBody))
        func resetInsideBody(_ run: HostileRun) async throws { try await run.check() }

        @Test("A close inside chunks", arguments: HostileRun.all(HostileCase.closedInsideChunks))
        func closedInsideChunks(_ run: HostileRun) async throws { try await run.check() }

        @Test("A reset inside chunks", arguments: HostileRun.all(HostileCase.resetInsideChunks))
        func resetInsideChunks(_ run: HostileRun) async throws { try await run.check() }
    }
}
