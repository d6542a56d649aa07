import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Dates, challenges, Retry-After", .endsInTime)
struct FieldValueTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    @Test(
        "An HTTP date is read in all three formats, without regard to case",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "SUN, 06 nov 1994 08:49:37 gmt",
        ])
    func dates(text: String) {
        #expect(HTTPDate(text, now: now)?.secondsSince1970 == 784_111_777)
        #expect(HTTPDate(text, now: now)?.description == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test("A two-digit year that would be more than 50 years ahead is read as a year in the past")
    func century() {
        #expect(HTTPDate("Tuesday, 01-Jan-74 00:00:00 GMT", now: now)?.date.description.hasPrefix("1974") == true)
        #expect(HTTPDate("Tuesday, 01-Jan-30 00:00:00 GMT", now: now)?.date.description.hasPrefix("2030") == true)
    }

    @Test(
        "Dates round-trip through text, across leap years and centuries",
        arguments: [-62_135_596_800, -1, 0, 951_782_400, 1_709_164_800, 4_107_542_400, 253_402_300_799])
    func roundTrip(seconds: Int64) {
        let date = HTTPDate(Date(timeIntervalSince1970: Double(seconds)))
        #expect(HTTPDate(date.description)?.secondsSince1970 == seconds)
    }

    @Test(
        "An invalid date is rejected",
        arguments: [
            "", "now", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2023 00:00:00 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET", "Xxx, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
            "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov -1 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 +8:49:37 GMT",
        ])
    func invalidDates(text: String) {
        #expect(HTTPDate(text) == nil)
    }

    @Test("A list of entity tags is split at the commas between the tags")
    func entityTags() {
        let tags = [#""a,b""#, #"W/"c""#, #""de""#]
        #expect(EntityTag.list(tags.joined(separator: " ,")) == tags.map { EntityTag($0) })
        #expect(EntityTag.list(#""a","bc""#) == [EntityTag(#""a""#), EntityTag(#""bc""#)])
    }

    @Test("A leap second is read as the next minute; at the end of the year 9999, it is read as 23:59:59")
    func leapSecond() throws {
        #expect(HTTPDate("Sat, 31 Dec 2016 23:59:60 GMT")?.description == "Sun, 01 Jan 2017 00:00:00 GMT")
        #expect(HTTPDate("Sat, 31 Dec 2016 23:59:61 GMT") == nil)
        let last = try #require(HTTPDate("Fri, 31 Dec 9999 23:59:60 GMT"))
        #expect(last.description == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate(last.description) == last)
    }

    @Test("Retry-After is read as seconds and as a date; the delay is never negative and at most one year")
    func retryAfter() {
        func delay(_ text: String) -> Duration? { ([.retryAfter: text] as HTTPHeaders).retryDelay(from: now) }
        #expect(delay("120") == .seconds(120))
        #expect(delay(HTTPDate(now + 90).description) == .seconds(90))
        #expect(delay(HTTPDate(now - 90).description) == .zero)
        #expect(delay("99999999999999999999999") == .seconds(31_536_000))
        for text in ["-1", "", "soon", "1s", "\"1\"", "+1", "1.", ".5", "1.5.1", "1,", "1, x", "1 2"] {
            #expect(delay(text) == nil, "\(text)")
        }
    }

    @Test("A fraction in Retry-After or RateLimit is rounded up; of several values, the longest counts")
    func retryAfterFraction() {
        func delay(_ headers: HTTPHeaders) -> Duration? { headers.retryDelay(from: now) }
        let texts = [("1.5", 2), ("2.0", 2), ("299.997", 300), ("0.000", 0), ("0001", 1), ("1, 1", 1), ("1,3.1,2", 4)]
        for (text, seconds) in texts { #expect(delay([.retryAfter: text]) == .seconds(seconds), "\(text)") }
        var headers: HTTPHeaders = [.retryAfter: "3"]
        headers.append(HTTPHeader(.retryAfter, "7"))
        headers.append(HTTPHeader(.retryAfter, "x"))
        #expect(delay(headers) == .seconds(7))
        #expect(HTTPHeaders.RateLimit(limit: "a;r=0;t=1.5", policy: nil)?.reset == .seconds(2))
    }

    @Test("Thousands of dates in Retry-After and a long Date are read in time", .timeLimit(.minutes(1)))
    func manyDates() {
        var headers: HTTPHeaders = []
        for _ in 0..<3_850 { headers.append(HTTPHeader(.retryAfter, "Sun Nov 6 00:00:00 0")) }
        headers.append(HTTPHeader(.date, String(repeating: "1", count: 64 << 10)))
        headers.append(HTTPHeader(.date, String(repeating: "1", count: 64 << 10)))
        #expect(headers.date == nil)
        #expect(headers.retryDelay(from: now) == .zero)
    }

    @Test("The delay until a date in Retry-After is counted from the Date of the response")
    func retryAfterDate() {
        let server = now - 3_600
        let headers: HTTPHeaders = [
            .retryAfter: HTTPDate(server + 90).description, .date: HTTPDate(server).description,
        ]
        #expect(headers.retryDelay(from: now) == .seconds(90))
    }

    @Test("Several challenges in one field are parsed, with quoted strings and token68")
    func challenges() {
        let challenges = HTTPHeaders.Challenge.parse(
            #"Newauth realm="apps, \"one\"", type=1, title = "Login", Basic realm="simple", Negotiate abc/+==, Bearer"#)
        #expect(
            challenges == [
                HTTPHeaders.Challenge(
                    scheme: "Newauth", parameters: ["realm": "apps, \"one\"", "type": "1", "title": "Login"]),
                HTTPHeaders.Challenge(scheme: "Basic", parameters: ["realm": "simple"]),
                HTTPHeaders.Challenge(scheme: "Negotiate", token68: "abc/+=="),
                HTTPHeaders.Challenge(scheme: "Bearer"),
            ])
    }

    @Test("The error of a bearer challenge is read; empty elements are skipped; malformed text ends the parsing")
    func bearer() {
        let challenge = HTTPHeaders.Challenge.parse(",, Bearer realm=\"x\" , , error=insufficient_scope,, ").first
        #expect(
            challenge?.error == "insufficient_scope" && challenge?.realm == "x" && challenge?.scheme == "Bearer"
        )
        #expect(HTTPHeaders.Challenge.parse("=,\"\"").isEmpty)
        #expect(HTTPHeaders.Challenge.parse("").isEmpty)
    }

    @Test(
        "A folded value neither begins nor ends with a blank, even if one of its lines is blank",
        arguments: ["ETag:\r\n \"a\"\r\n", "ETag: \"a\"\r\n \t\r\n", "ETag: \r\n \r\n\t\"a\"\r\n  \r\n"])
    func foldedEnds(field: String) throws {
        var reader = ResponseHeadReader(limit: 1 << 10)
        var head: ResponseHead?
        for line in "HTTP/1.1 200 OK\r\n\(field)\r\n".utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
            .dropLast()
        {
            if case .head(let found) = Array(line).withUnsafeBytes({ reader.read($0) }) { head = found }
        }
        #expect(head?.headers[.eTag] == "\"a\"")
    }

    @Test("A byte order mark in a header value is part of the value and is not removed")
    func byteOrderMark() throws {
        var reader = ResponseHeadReader(limit: 1 << 10)
        var head: ResponseHead?
        for line in ["HTTP/1.1 200 OK\r\n", "Content-Length:\u{FEFF} 6\r\n", "X: \u{FEFF}a\r\n", "\r\n"] {
            if case .head(let found) = Array(line.utf8).withUnsafeBytes({ reader.read($0) }) { head = found }
        }
        let found = try #require(head)
        #expect(found.headers.map(\.value.unicodeScalars.count) == [3, 2])
        #expect(throws: NetworkError.self, "a length that is not a number") { try found.bodyLength(for: .get) }
    }

    @Test(
        "A field without a transfer coding does not say where the body ends",
        arguments: ["", " , ", "identity", "Identity, ,"])
    func noTransferCoding(text: String) throws {
        let head = ResponseHead(status: .ok, headers: [.transferEncoding: text], version: "1.1")
        #expect(head.endsWithConnection(for: .get))
        let long = ResponseHead(
            status: .ok, headers: [.transferEncoding: text, .contentLength: "5"], version: "1.1")
        #expect(try long.bodyLength(for: .get) == 5)
        let chunked = ResponseHead(status: .ok, headers: [.transferEncoding: text + ",Chunked"], version: "1.1")
        #expect(!chunked.endsWithConnection(for: .get))
    }

    @Test(
        "The version in a status line is HTTP/1. and one digit, HTTP/2, or HTTP/3",
        arguments: [
            ("HTTP/1.0", true), ("HTTP/1.1", true), ("HTTP/1.9", true), ("HTTP/2", true), ("HTTP/3", true),
            ("HTTP/1.\r1", false), ("HTTP/1.", false), ("HTTP/1.x", false), ("HTTP/1.10", false), ("HTTP/1.é", false),
        ])
    func version(version: String, isValid: Bool) {
        var reader = ResponseHeadReader(limit: 1 << 10)
        let step = Array("\(version) 200 OK\r\n".utf8).withUnsafeBytes { reader.read($0) }
        if case .more = step { #expect(isValid) } else { #expect(!isValid) }
    }

    @Test(
        "A Location that is not UTF-8 keeps its bytes as escapes, and other fields are read as Latin-1",
        arguments: [
            ("Location", [0x2F, 0xE4, 0xFF], "/%E4%FF"), ("Location", [0x2F, 0xC3, 0xA4], "/ä"),
            ("X", [0x2F, 0xE4], "/ä"), ("Location", [0x2F, 0x0D, 0x0A, 0x20, 0xE4], "/ %E4"),
        ] as [(String, [UInt8], String)])
    func bytesOfReference(name: String, value: [UInt8], text: String) throws {
        var reader = ResponseHeadReader(limit: 1 << 10)
        var head: ResponseHead?
        let lines = value.split(separator: 13).map { Array($0.drop { $0 == 10 }) + [13, 10] }
        let field = [Array("\(name): ".utf8) + lines[0]] + lines.dropFirst()
        for line in [Array("HTTP/1.1 302 Found\r\n".utf8)] + field + [[13, 10]] {
            if case .head(let found) = line.withUnsafeBytes({ reader.read($0) }) { head = found }
        }
        #expect(head?.headers[HTTPHeader.Name(name)] == text)
    }

    @Test("A header value that is folded over very many lines is parsed in linear time")
    func folds() {
        var reader = ResponseHeadReader(limit: 1 << 20)
        func read(_ line: String) -> ResponseHeadReader.Step {
            Array(line.utf8).withUnsafeBytes { reader.read($0) }
        }
        _ = read("HTTP/1.1 200 OK\r\n")
        _ = read("X: y\r\n")
        for _ in 0..<200_000 { _ = read(" z\r\n") }
        guard case .head(let head) = read("\r\n") else { return #expect(Bool(false), "no head") }
        #expect(head.headers["X"]?.utf8.count == 1 + 2 * 200_000)
    }
}
