@testable import Networking

/// The behaviour of a hostile server, the calls made to it, and the expected outcome of each call.
struct HostileCase: Sendable {
    let name: String
    /// A script for each connection, in order of acceptance. Further connections use the last script.
    let scripts: [[HostileStep]]
    /// The expected outcomes of the calls, in order.
    let expected: [HostileOutcome]
    var calls: [HostileCall] = [.get]
    var client = HostileClient.shared
    private var idleTimeout: Duration?
    /// The expected outcomes on engines that cannot meet `expected`.
    private var exceptions: [Engine: [HostileOutcome]] = [:]

    init(_ name: String, _ script: [HostileStep], _ expected: HostileOutcome) {
        self.init(name, [script], [expected])
    }

    init(_ name: String, _ scripts: [[HostileStep]], _ expected: [HostileOutcome]) {
        self.name = name
        self.scripts = scripts
        self.expected = expected
        calls = Array(repeating: .get, count: expected.count)
    }

    /// The idle timeout of the calls. Default: 10 s, so that calls do not time out when the machine stalls. For a case
    /// of HTTP/2 whose expected outcomes include the timeout: 1 s.
    var idle: Duration {
        let mayTimeOut = ([expected] + exceptions.values).joined().contains(where: \.mayTimeOut)
        return idleTimeout ?? (client == .http2 && mayTimeOut ? .seconds(1) : .seconds(10))
    }

    /// Returns the same case with other calls.
    func calling(_ calls: HostileCall...) -> Self { changed { $0.calls = calls } }

    /// Returns the same case with another client.
    func through(_ client: HostileClient) -> Self { changed { $0.client = client } }

    /// The same case with an idle timeout of 500 ms, for a call that times out, or would time out on a faulty engine.
    var stalling: Self { changed { $0.idleTimeout = .milliseconds(500) } }

    /// Returns the same case with other outcomes on an engine that cannot meet `expected`. The reason is only a note.
    func on(_ engine: Engine, _ outcomes: HostileOutcome..., because reason: String) -> Self {
        changed { $0.exceptions[engine] = outcomes }
    }

    private func changed(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }

    func expected(on engine: Engine) -> [HostileOutcome] {
        exceptions[engine] ?? expected
    }
}

/// One call to a hostile server.
struct HostileCall: Sendable {
    var method = HTTPMethod.get
    var bodyCount = 0
    /// The time to wait before the call begins.
    var pause = Duration.zero

    static let get = HostileCall()
    static let head = HostileCall(method: .head)

    /// A call that begins 500 ms after the previous one has ended.
    static let later = HostileCall(pause: .milliseconds(500))

    static func put(_ count: Int) -> HostileCall { HostileCall(method: .put, bodyCount: count) }
}

/// The transport that sends the calls.
enum HostileClient: Sendable {
    /// The engine's shared transport, which earlier cases have used.
    case shared
    /// The shared transport in a `RedirectFollowingTransport`.
    case followingRedirects
    case keepingCookies
    /// A curl transport with a limit of 64 KiB for decompressed bodies; on other engines the shared transport.
    case bounded
    /// A curl transport for HTTP/2 without TLS; on other engines the shared transport.
    case http2

    private func keepingCookies(over transport: any Transport) -> any Transport {
        let jar = CookieJar()
        return CookieTransport(base: SetCookieTransport(base: transport, jar: jar), jar: jar)
    }

    func transport(on engine: Engine) throws -> any Transport {
        switch (self, engine) {
        case (.shared, _): try engine.shared()
        case (.followingRedirects, _): RedirectFollowingTransport(base: try engine.shared())
        case (.keepingCookies, _): keepingCookies(over: try engine.shared())
        case (.bounded, .curl): try HostileClient.boundedCurl.get()
        case (.http2, .curl): try HostileClient.http2Curl.get()
        case (.bounded, _), (.http2, _): try engine.shared()
        }
    }

    #if os(Linux)
        private static let boundedCurl = Result {
            try CurlTransport(CurlTransport.Configuration(threads: 1, limits: .init(decodedBytes: 64 << 10)))
        }
        private static let http2Curl = Result {
            try CurlTransport(CurlTransport.Configuration(threads: 1, httpVersions: .http2))
        }
    #else
        private static let boundedCurl = Result { try Engine.curl.make() }
        private static let http2Curl = Result { try Engine.curl.make() }
    #endif
}
