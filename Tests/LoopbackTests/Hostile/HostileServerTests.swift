import Foundation
import Networking
import Testing

extension Loopback {
    /// Servers that break the rules of HTTP/1.1. Each call ends with the right response, or with an error of the right
    /// kind, in bounded time, and the transport serves other calls afterwards.
    ///
    /// `cfNetwork` names what `URLSession` on Apple platforms accepts beyond that.
    @Suite("Hostile servers")
    struct HostileServerTests {
        @Test(
            "What CFNetwork may accept never includes a stalled call, an unknown error or, at an early end, a response")
        func tolerances() {
            let response = HTTPResponse(.ok, to: HTTPRequest(.get, URL(fileURLWithPath: "/")))
            for tolerance in CFNetworkTolerance.allCases {
                for kind in [NetworkError.Kind.idleTimedOut, .unknown, .cancelled] {
                    #expect(!tolerance.allows(.failure(NetworkError(kind))))
                }
                #expect(tolerance.allows(.failure(NetworkError(.connectionLostAfterHead))))
                #expect(tolerance.allows(.success(response)) == (tolerance != .ends))
            }
        }

        @Test("Status lines", arguments: HostileRun.all(HostileCase.statusLines, cfNetwork: .heads))
        func statusLine(_ run: HostileRun) async throws { try await run.check() }

        @Test("Status codes", arguments: HostileRun.all(HostileCase.statusCodes, cfNetwork: .heads))
        func statusCode(_ run: HostileRun) async throws { try await run.check() }

        @Test("Reason phrases", arguments: HostileRun.all(HostileCase.reasons, cfNetwork: .heads))
        func reason(_ run: HostileRun) async throws { try await run.check() }

        @Test("Other protocols", arguments: HostileRun.all(HostileCase.otherProtocols, cfNetwork: .heads))
        func otherProtocol(_ run: HostileRun) async throws { try await run.check() }

        @Test(
            "Whitespace before the first field", arguments: HostileRun.all(HostileCase.leadingBlanks, cfNetwork: .heads)
        )
        func leadingBlank(_ run: HostileRun) async throws { try await run.check() }

        @Test("Folded fields", arguments: HostileRun.all(HostileCase.foldedFields, cfNetwork: .heads))
        func foldedField(_ run: HostileRun) async throws { try await run.check() }

        @Test("Field syntax", arguments: HostileRun.all(HostileCase.fieldSyntax, cfNetwork: .heads))
        func fieldSyntax(_ run: HostileRun) async throws { try await run.check() }

        @Test("Bytes in fields", arguments: HostileRun.all(HostileCase.fieldBytes, cfNetwork: .heads))
        func fieldBytes(_ run: HostileRun) async throws { try await run.check() }

        @Test("Large heads", arguments: HostileRun.all(HostileCase.headSizes, cfNetwork: .heads))
        func headSize(_ run: HostileRun) async throws { try await run.check() }

        @Test("Endless heads", arguments: HostileRun.all(HostileCase.endlessHeads, cfNetwork: .heads))
        func endlessHead(_ run: HostileRun) async throws { try await run.check() }

        @Test("Slow heads", arguments: HostileRun.all(HostileCase.slowHeads, cfNetwork: .heads))
        func slowHead(_ run: HostileRun) async throws { try await run.check() }

        @Test("Content-Length", arguments: HostileRun.all(HostileCase.contentLengths, cfNetwork: .framing))
        func contentLength(_ run: HostileRun) async throws { try await run.check() }

        @Test("Huge Content-Length", arguments: HostileRun.all(HostileCase.hugeLengths, cfNetwork: .framing))
        func hugeLength(_ run: HostileRun) async throws { try await run.check() }

        @Test(
            "Content-Length that does not match the body",
            arguments: HostileRun.all(HostileCase.wrongLengths, cfNetwork: .framing))
        func wrongLength(_ run: HostileRun) async throws { try await run.check() }

        @Test(
            "Content-Length that is overridden",
            arguments: HostileRun.all(HostileCase.overriddenLengths, cfNetwork: .framing))
        func overriddenLength(_ run: HostileRun) async throws { try await run.check() }

        @Test("Chunk sizes", arguments: HostileRun.all(HostileCase.chunkSizes, cfNetwork: .framing))
        func chunkSize(_ run: HostileRun) async throws { try await run.check() }

        @Test("Chunk ends", arguments: HostileRun.all(HostileCase.chunkEnds, cfNetwork: .framing))
        func chunkEnd(_ run: HostileRun) async throws { try await run.check() }

        @Test("Trailers", arguments: HostileRun.all(HostileCase.trailers, cfNetwork: .framing))
        func trailer(_ run: HostileRun) async throws { try await run.check() }

        @Test("Transfer codings", arguments: HostileRun.all(HostileCase.transferCodings, cfNetwork: .framing))
        func transferCoding(_ run: HostileRun) async throws { try await run.check() }

        @Test("Content codings", arguments: HostileRun.all(HostileCase.contentCodings, cfNetwork: .framing))
        func contentCoding(_ run: HostileRun) async throws { try await run.check() }

        @Test("Unknown content codings", arguments: HostileRun.all(HostileCase.unknownCodings, cfNetwork: .framing))
        func unknownCoding(_ run: HostileRun) async throws { try await run.check() }

        @Test("Invalid content codings", arguments: HostileRun.all(HostileCase.brokenCodings, cfNetwork: .framing))
        func brokenCoding(_ run: HostileRun) async throws { try await run.check() }

        @Test("Bytes after a gzip member", arguments: HostileRun.all(HostileCase.gzipEnds, cfNetwork: .framing))
        func gzipEnd(_ run: HostileRun) async throws { try await run.check() }

        @Test(
            "Bodies that exceed the limit when decompressed",
            arguments: HostileRun.all(HostileCase.bombs, cfNetwork: .framing))
        func bomb(_ run: HostileRun) async throws { try await run.check() }

        @Test("Truncated compressed bodies", arguments: HostileRun.all(HostileCase.cutCodings, cfNetwork: .ends))
        func cutCoding(_ run: HostileRun) async throws { try await run.check() }

        @Test("Informational responses", arguments: HostileRun.all(HostileCase.informational, cfNetwork: .heads))
        func informational(_ run: HostileRun) async throws { try await run.check() }

        @Test("Responses without a body", arguments: HostileRun.all(HostileCase.bodiless, cfNetwork: .framing))
        func bodiless(_ run: HostileRun) async throws { try await run.check() }

        @Test("Responses before the upload ends", arguments: HostileRun.all(HostileCase.early, cfNetwork: .framing))
        func early(_ run: HostileRun) async throws { try await run.check() }

        @Test("Unsolicited bytes", arguments: HostileRun.all(HostileCase.unsolicited, cfNetwork: .framing))
        func unsolicited(_ run: HostileRun) async throws { try await run.check() }

        @Test("Persistent connections", arguments: HostileRun.all(HostileCase.keepAlive, cfNetwork: .framing))
        func keepAlive(_ run: HostileRun) async throws { try await run.check() }

        @Test("Silent servers", arguments: HostileRun.all(HostileCase.silence))
        func silence(_ run: HostileRun) async throws { try await run.check() }

        @Test("Redirects", arguments: HostileRun.all(HostileCase.redirects, cfNetwork: .heads))
        func redirect(_ run: HostileRun) async throws { try await run.check() }

        @Test("Cookies", arguments: HostileRun.all(HostileCase.cookies, cfNetwork: .heads))
        func cookie(_ run: HostileRun) async throws { try await run.check() }

        @Test("A close inside the head", arguments: HostileRun.all(HostileCase.closedInsideHead, cfNetwork: .ends))
        func closedInsideHead(_ run: HostileRun) async throws { try await run.check() }

        @Test("A reset inside the head", arguments: HostileRun.all(HostileCase.resetInsideHead, cfNetwork: .ends))
        func resetInsideHead(_ run: HostileRun) async throws { try await run.check() }

        @Test("A close inside the body", arguments: HostileRun.all(HostileCase.closedInsideBody, cfNetwork: .ends))
        func closedInsideBody(_ run: HostileRun) async throws { try await run.check() }

        @Test("A reset inside the body", arguments: HostileRun.all(HostileCase.resetInsideBody, cfNetwork: .ends))
        func resetInsideBody(_ run: HostileRun) async throws { try await run.check() }

        @Test("A close inside chunks", arguments: HostileRun.all(HostileCase.closedInsideChunks, cfNetwork: .ends))
        func closedInsideChunks(_ run: HostileRun) async throws { try await run.check() }

        @Test("A reset inside chunks", arguments: HostileRun.all(HostileCase.resetInsideChunks, cfNetwork: .ends))
        func resetInsideChunks(_ run: HostileRun) async throws { try await run.check() }
    }
}
