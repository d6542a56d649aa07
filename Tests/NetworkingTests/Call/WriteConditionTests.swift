import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("The conditions of writes", .endsInTime)
struct WriteConditionTests {
    private static let request = HTTPRequest(.get, Fixture.environment.baseURL ?? URL(fileURLWithPath: "/"))
    private let stub = StubTransport()

    @Test(
        "A Last-Modified counts if it is at least a second before Date; it is sent as If-Unmodified-Since",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:36 GMT", true), ("Sun, 06 Nov 1994 08:49:37 GMT", false), ("yesterday", false),
        ])
    func lastModified(time: String, isStrong: Bool) throws {
        let request = Self.request
        let response = HTTPResponse(
            .ok, headers: [.lastModified: time, .date: "Sun, 06 Nov 1994 08:49:37 GMT"], to: request)
        let condition = try? RequestSettings.ifUnchanged(since: response).condition?.get()
        #expect(condition == (isStrong ? HTTPHeader(.ifUnmodifiedSince, time) : nil))
    }

    @Test(
        "Only one strong tag is sent; with a weak one, a strong time is sent in its place",
        arguments: [
            ("\"a\"", "\"a\""), ("\"a\", \"b\"", nil), ("\"a\", W/\"b\"", nil), ("W/\"a\"", nil), ("a", nil),
            ("\"", nil),
            ("\"a b\"", nil), ("*", nil), ("\u{A0}\"a\"", nil), ("\"a\"\u{2003}", nil),
        ] as [(String, String?)])
    func tags(tag: String, expected: String?) throws {
        let request = Self.request
        let alone = HTTPResponse(.ok, headers: [.eTag: tag], to: request)
        let sent = try? RequestSettings.ifUnchanged(since: alone).condition?.get().value
        #expect(sent == expected)
        let time = "Sun, 06 Nov 1994 08:49:36 GMT"
        let dated = HTTPResponse(
            .ok, headers: [.eTag: tag, .lastModified: time, .date: "Sun, 06 Nov 1994 08:49:37 GMT"], to: request)
        let condition = try RequestSettings.ifUnchanged(since: dated).condition?.get()
        #expect(condition == (expected.map { HTTPHeader(.ifMatch, $0) } ?? HTTPHeader(.ifUnmodifiedSince, time)))
    }

    @Test("An endpoint's own condition is replaced, and other settings are kept")
    func settings() async throws {
        let request = Self.request
        let response = HTTPResponse(.ok, headers: [.eTag: "\"x\""], to: request)
        let settings = RequestSettings { $0.timeouts.total = .seconds(3) }.ifUnchanged(since: response)
        #expect(settings.timeouts.total == .seconds(3))
        stub.on(nil, nil, .status(.noContent))
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        try await service.request(AdHocEndpoint(.delete, "item").headers([.ifMatch: "*"]), with: settings)
        #expect(stub.requests.map { $0.headers[.ifMatch] } == ["\"x\""])
    }

    @Test("The conflict names no value")
    func text() throws {
        let response = Response(4711, HTTPResponse(.ok, to: Self.request))
        let conflict = Response<Int>.Conflict(
            current: response, attempts: 2, mayHaveBeenWritten: false, underlying: UserError.taken)
        #expect("\(conflict)".hasPrefix("conflict after 2 writes (") && !"\(conflict)".contains("4711"))
        var dumped = ""
        dump(conflict, to: &dumped)
        #expect(!dumped.contains("4711"))
    }
}
