import Networking

/// What a hostile server does, which calls are made, and how each of them has to end.
struct HostileCase: Sendable {
    let name: String
    /// A script for each connection, in order of acceptance; the last one is for all that follow.
    let scripts: [[HostileStep]]
    /// How the calls have to end, one after another.
    let expected: [HostileOutcome]
    var calls: [HostileCall] = [.get]
    var client = HostileClient.shared
    var idle = Duration.seconds(1)
    /// How they end on an engine that cannot do it right.
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

    /// The same case with other calls.
    func calling(_ calls: HostileCall...) -> Self { changed { $0.calls = calls } }

    /// The same case through another client.
    func through(_ client: HostileClient) -> Self { changed { $0.client = client } }

    /// The same case with an idle timeout of 500 ms, because the call ends by it, or would without the right handling.
    var stalling: Self { changed { $0.idle = .milliseconds(500) } }

    /// Says how the calls end on an engine that cannot do it right, and why nothing can be done about it.
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
    /// How long it waits before it begins.
    var pause = Duration.zero

    static let get = HostileCall()
    static let head = HostileCall(method: .head)

    /// A call 150 ms after the one before.
    static let later = HostileCall(pause: .milliseconds(150))

    static func put(_ count: Int) -> HostileCall { HostileCall(method: .put, bodyCount: count) }
}

/// The transport that carries the calls.
enum HostileClient: Sendable {
    /// The engine's shared transport, which earlier cases have used.
    case shared
    /// A transport of its own.
    case followingRedirects
    case keepingCookies
    /// A compressed body may unpack to 64 KiB.
    case bounded
    /// HTTP/2 without TLS; curl only.
    case http2

    func transport(on engine: Engine) throws -> any Transport {
        switch (self, engine) {
        case (.shared, _): try engine.shared()
        case (.followingRedirects, _): RedirectFollowingTransport(try engine.shared())
        case (.keepingCookies, _): CookieTransport(try engine.shared(), jar: CookieJar())
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
