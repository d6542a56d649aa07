#if os(Linux)
    import Networking
    import Testing

    extension Loopback {
        /// Servers that break the rules of HTTP/2, without TLS. Foundation on Linux cannot request HTTP/2 without TLS.
        @Suite(
            "Hostile HTTP/2 servers",
            .enabled(if: (try? Engine.hasLossyHTTP2()) == false, "this libcurl loses HTTP/2 bodies"))
        struct HostileServerHTTP2Tests {
            @Test("Frames", arguments: HostileRun.all(HostileCase.http2Frames, on: [.curl]))
            func frame(_ run: HostileRun) async throws { try await run.check() }

            @Test("SETTINGS, silence and floods", arguments: HostileRun.all(HostileCase.http2Settings, on: [.curl]))
            func settings(_ run: HostileRun) async throws { try await run.check() }

            @Test("Frame order", arguments: HostileRun.all(HostileCase.http2Order, on: [.curl]))
            func order(_ run: HostileRun) async throws { try await run.check() }

            @Test("Heads", arguments: HostileRun.all(HostileCase.http2Heads, on: [.curl]))
            func head(_ run: HostileRun) async throws { try await run.check() }

            @Test("Large and compressed heads", arguments: HostileRun.all(HostileCase.http2LargeHeads, on: [.curl]))
            func largeHead(_ run: HostileRun) async throws { try await run.check() }

            @Test("Bodies", arguments: HostileRun.all(HostileCase.http2Bodies, on: [.curl]))
            func body(_ run: HostileRun) async throws { try await run.check() }

            @Test("RST_STREAM", arguments: HostileRun.all(HostileCase.http2Resets, on: [.curl]))
            func reset(_ run: HostileRun) async throws { try await run.check() }

            @Test(
                "Streams that the server refused",
                arguments: HostileRun.all(HostileCase.http2Refusals, on: [.curl]))
            func refusal(_ run: HostileRun) async throws { try await run.check() }

            @Test("GOAWAY and finished streams", arguments: HostileRun.all(HostileCase.http2GoAways, on: [.curl]))
            func goAway(_ run: HostileRun) async throws { try await run.check() }

            @Test("A close after each byte", arguments: HostileRun.all(HostileCase.http2Closes, on: [.curl]))
            func closing(_ run: HostileRun) async throws { try await run.check() }

            @Test("A call after a lost connection", arguments: HostileRun.all(HostileCase.http2NextCalls, on: [.curl]))
            func nextCall(_ run: HostileRun) async throws { try await run.check() }

            @Test("A reset after each byte", arguments: HostileRun.all(HostileCase.http2ConnectionResets, on: [.curl]))
            func connectionReset(_ run: HostileRun) async throws { try await run.check() }
        }
    }
#endif
