import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// What a server chooses never makes a later request invalid.
@Suite("Fields of a hostile server", .endsInTime)
struct HostileFieldTests {
    private struct Get: Endpoint {
        let path: EndpointPath = "items"
    }

    private let clock = ManualClock()
    private let stub = StubTransport()

    /// Control characters that a response may contain, and a request may not.
    private static let controls = ["\u{85}", "\u{9B}", "\u{2028}"]

    private func service() -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.cache = ResponseCache(clock: clock.networkClock)
            $0.cookies = CookieJar(publicSuffixes: CookieJar.PublicSuffixList(""))
            $0.transport = stub
            $0.clock = clock.networkClock
        }
    }

    @Test("A validator with a control character is not sent", arguments: controls)
    func validators(control: String) async throws {
        for validator: HTTPHeaders in [
            [.eTag: "\"a\(control)b\""], [.lastModified: "Sun\(control), 06 Nov 1994 08:49:37 GMT"],
        ] {
            stub.on(
                .get, "/v1/items",
                StubResponse(headers: validator.merging([.cacheControl: "max-age=1"]), body: Data("a".utf8)))
            let service = service()
            for _ in 0..<2 {
                #expect(try await service.request(Get(), as: .string) == "a")
                clock.advance(by: .seconds(2))
            }
            let request = try #require(stub.requests.last)
            #expect(request.headers[.ifNoneMatch] == nil && request.headers[.ifModifiedSince] == nil)
        }
    }

    @Test("A cookie with a control character is not stored", arguments: controls)
    func cookies(control: String) async throws {
        stub.on(.get, "/v1/items", StubResponse(headers: [.setCookie: "a=b\(control)c"], body: Data("a".utf8)))
        let service = service()
        for _ in 0..<2 { #expect(try await service.request(Get(), as: .string) == "a") }
        #expect(stub.requests.allSatisfy { !$0.headers.contains(.cookie) })
    }

    /// An app that prints a value prints its description, also inside another value.
    @Test("A value of a server is printed on one line, without control characters and changes of direction")
    func descriptions() throws {
        let evil = "a\u{1B}[2J\u{9B}5m\u{202E}b\u{2028}\u{85}\u{200F}\r\n"
        var problem = ProblemDetails(title: evil, detail: evil)
        problem.extensions = [evil: .string(evil)]
        let links = HTTPHeaders.Link.parse("</\(evil)>; rel=\"\(evil)\"; title=\"\(evil)\"")
        let event = ServerSentEvent(type: evil, data: evil, id: evil)
        let values: [any CustomStringConvertible] = [problem, JSONValue.array([.string(evil)]), event, links[0]]
        for text in values.flatMap({ ["\($0)", "\([$0])", String(reflecting: $0)] }) {
            #expect(text.contains("2J"), "the text is shown")
            let found = text.unicodeScalars.filter {
                evil.unicodeScalars.contains($0) && !"a[2J5mb".unicodeScalars.contains($0)
            }
            #expect(found.isEmpty, "\(text.debugDescription)")
        }
        #expect("\(JSONValue.object(["a": [1, 2.5, .null, true, "/"]]))" == "{\"a\":[1,2.5,null,true,\"/\"]}")
        #expect("\(ServerSentEvent(data: "a\nb", id: "7"))" == "message: a\\nb (ID 7)")
        #expect("\(ProblemDetails(title: "No", status: 404, detail: "No a"))" == "404, No, No a, about:blank")
        #expect("\(HTTPHeaders.Link.parse("</a>; rel=\"next last\"; b=c")[0])" == "</a>; rel=\"next last\"; b=\"c\"")
    }

    @Test(
        "A media type whose parameter has a control character or a change of direction is none",
        arguments: controls + ["\u{202E}"])
    func mediaTypes(control: String) {
        #expect(MediaType("text/plain; charset=\"utf-8\(control)\"") == nil)
        #expect(MediaType("text/plain; charset=\"utf-8\"").charset == "utf-8")
    }

    /// Regional indicators form flags in pairs, counted from the first one. Finding the character before each of n
    /// indicators takes time that is proportional to n².
    @Test("The URLs of a server are shown without users in linear time, whatever they contain")
    func users() throws {
        let flags = String(repeating: "\u{1F1E6}", count: 200_000)
        let link = HTTPHeader("Link", "<https://a:b@c.example/d>; rel=next, <///e:f@g.example//h@i/j>?k")
        #expect("\(link)" == "Link: <https://c.example/d>; rel=next, <///g.example//i/j>?<redacted>")
        let next = try #require(HTTPHeaders.Link.parse("<https://u:p@c.example/d?sig=secret#x>; rel=next").first)
        var dumped = ""
        dump(next, to: &dumped)
        #expect("\(next)" == "<https://c.example/d?<redacted>>; rel=\"next\"")
        #expect(!dumped.contains("secret") && !dumped.contains("u:p"))
        #expect(URL.withoutSecrets("https://a:b@c@d.example/e//f@g/h?i") == "https://d.example/e//f@g/h")
        #expect(URL.withoutSecrets("//\(flags)") == "//\(flags)")
        #expect("\(HTTPHeader(.location, "//\(flags)"))" == "Location: //\(flags)")
        let redaction = Redaction.standard.allowing(query: ["c"])
        for count in [600, 200_000] {
            let marks = String(repeating: "%CC%81%CC%A3", count: count)
            let url = try #require(URL(string: "https://a.example/?\(marks)=b&c=d"))
            let isShown = url.absoluteString.utf8.count < 8_192
            #expect(
                redaction.text(of: url) == "https://a.example/?\(isShown ? "\(marks)=REDACTED&c=d" : "REDACTED")")
        }
        let empty = try #require(URL(string: "https://a.example/?\(String(repeating: "&", count: 8_000))c=d"))
        #expect(redaction.text(of: empty) == empty.absoluteString)
    }

    @Test("A host of more than 1,024 bytes is no origin; a host with control characters is shown without them")
    func origins() throws {
        let long = try #require(URL(string: "http://" + String(repeating: "%CC%81", count: 20_000) + "/"))
        #expect(HTTPOrigin(long) == nil)
        let evil = try #require(URL(string: "http://a%1B%5B2J%C2%9B/"))
        #expect("\(try #require(HTTPOrigin(evil)))" == "http://a\\u{1B}[2j\\u{009B}:80")
    }

    @Test("A redirect to more than 64 KiB, or to a host that cannot be sent, is not followed")
    func targets() async throws {
        let path = String(repeating: "a", count: 33_000)
        let hosts = [
            "http://\(String(repeating: "%CC%81", count: 2_000))/", "http://\(String(repeating: "a", count: 256))/",
        ]
        for (location, reason) in [
            (String(repeating: "a", count: 64 << 10 + 1), "its Location has more than 65536 bytes"),
            ("\(path)/", "its Location leads to a URL of more than 65536 bytes"),
            (hosts[0], "its Location is not a URL: its host has more than 255 bytes"),
            (hosts[1], "its Location is not a URL: its host has more than 255 bytes"),
        ] {
            let stub = StubTransport()
            stub.on(nil, nil, StubResponse(.found, headers: [.location: location]))
            let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
            let error = await Fixture.failure { _ = try await service.request(Get(), as: .data) }
            #expect(error?.originalNetworkError?.kind == .redirectRefused)
            #expect(error?.originalNetworkError?.reason?.contains(reason) == true, "\(location.prefix(20))")
            #expect(stub.requests.count == (location.hasSuffix("aa/") && !location.hasPrefix("http") ? 2 : 1))
        }
    }

    @Test("The id of an event is ignored if it has a control character or more than 4,096 bytes", arguments: controls)
    func eventIDs(control: String) throws {
        var parser = ServerSentEventParser()
        let long = String(repeating: "x", count: 4_096)
        #expect(try parser.parse(Data("id: \(long)\ndata: a\n\n".utf8)).first?.id == long)
        for id in ["a\(control)", long + "x"] {
            #expect(try parser.parse(Data("id: \(id)\ndata: a\n\n".utf8)).first?.id == long)
        }
    }

    @Test("A stream waits at least 100 ms before it connects again, even if the server asks it not to wait")
    func hurry() {
        var machine = ReconnectionMachine(ServerSentEvent.Reconnection(), repeating: .always)
        machine.connect()
        #expect(machine.step(after: .ended, id: nil, retry: .zero, spread: 0) == .reconnect(after: .milliseconds(100)))
    }

    @Test("Small chunks that wait for a reader are joined")
    func smallChunks() async throws {
        let pipe = BytePipe(capacity: 64 << 10)
        for _ in 0..<2_500 { #expect(pipe.write(Data([7])) == .taken) }
        var sizes: [Int] = []
        pipe.finish()
        while let chunk = try await pipe.next() { sizes.append(chunk.count) }
        #expect(sizes == [1_024, 1_024, 452])
    }

    @Test("Responses that confirm a stored one cannot let its fields grow without limit")
    func confirmations() async throws {
        let more = String(repeating: "x", count: 100_000)
        let service = service()
        func fields(_ name: String) -> HTTPHeaders { [.eTag: "\"a\"", .cacheControl: "max-age=1", .init(name): more] }
        stub.on(
            .get, "/v1/items", StubResponse(headers: fields("X-0"), body: Data("a".utf8)),
            StubResponse(.notModified, headers: fields("X-1")), StubResponse(.notModified, headers: fields("X-2")),
            StubResponse(headers: fields("X-3"), body: Data("b".utf8)))
        for text in ["a", "a", "a", "b"] {
            #expect(try await service.request(Get(), as: .string) == text)
            clock.advance(by: .seconds(2))
        }
        #expect(stub.requests.map { $0.headers.contains(.ifNoneMatch) } == [false, true, true, false])
    }

    @Test("Of thousands of cookies of one domain, 50 are kept, and the cookies of other domains stay")
    func many() throws {
        let jar = CookieJar(publicSuffixes: CookieJar.PublicSuffixList(""))
        for host in 0..<2_900 { try jar.keep("a=1", from: "http://h\(host).x.example/") }
        var headers = HTTPHeaders()
        for number in 0..<4_000 { headers.append(HTTPHeader(.setCookie, "n\(number)=1; Domain=x.example")) }
        let url = try #require(URL(string: "http://x.example/"))
        jar.keep(headers, from: url)
        #expect(jar.cookies.count == 2_950)
    }

    @Test("Merging many fields gives the same result as merging them one by one")
    func merging() {
        var random = SystemRandomNumberGenerator()
        func fields(_ count: Int) -> HTTPHeaders {
            HTTPHeaders(
                (0..<count).map { HTTPHeader(HTTPHeader.Name("X-\(Int.random(in: 0..<30, using: &random))"), "\($0)") })
        }
        for _ in 0..<200 {
            let (old, new) = (
                fields(Int.random(in: 0..<50, using: &random)), fields(33 + Int.random(in: 0..<30, using: &random))
            )
            var expected = old
            for (index, field) in new.enumerated() {
                if new[..<index].contains(where: { $0.name == field.name }) {
                    expected.append(field)
                } else {
                    expected.set(field)
                }
            }
            #expect(old.merging(new) == expected)
        }
    }

    @Test(
        "A host of more than 255 bytes has no cookies, and a validator of more than 1,024 bytes is not sent to a mirror"
    )
    func lengths() throws {
        let host = Array(repeating: "a", count: 128).joined(separator: ".")
        #expect(CookieLocation(try #require(URL(string: "http://\(host)/"))) != nil)
        #expect(CookieLocation(try #require(URL(string: "http://\(host).b/"))) == nil)
        let request = HTTPRequest(.get, try #require(URL(string: "http://a.example/")))
        for (count, isKept) in [(1_022, true), (1_023, false)] {
            let tag = "\"\(String(repeating: "a", count: count))\""
            let response = HTTPResponse(.ok, headers: [.eTag: tag], to: request)
            #expect((ResumePoint(response, content: "x") != nil) == isKept)
        }
    }
}
