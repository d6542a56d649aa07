import Foundation
import NetworkingTesting
import Testing

@testable import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Set-Cookie fields", .endsInTime)
struct SetCookieTests {
    @Test("Name, value and attributes are read without surrounding spaces; the last attribute of a name is used")
    func parts() throws {
        let field = try #require(
            SetCookie("\t sid = a=\"b\" ;SECURE; path = /a ; Path=/b; Domain=.X.example;HttpOnly=1;;x"))
        #expect(field.name == "sid" && field.value == "a=\"b\"")
        #expect(field.path == "/b" && field.domain == "X.example" && field.isSecure && field.isHTTPOnly)
        let plain = try #require(SetCookie("a=; SameSite=None; Partitioned; Priority=High"))
        #expect(plain.value.isEmpty && plain.path == nil && plain.domain == nil && !plain.isSecure && !plain.isHTTPOnly)
    }

    @Test(
        "A field without a name is refused, even a field with only a value, which RFC 6265bis accepts",
        arguments: ["", ";", "=", "value", "=value", "; a=1", " \t= value", "value; Path=/"])
    func nameless(field: String) {
        #expect(SetCookie(field) == nil)
    }

    @Test("A delimiter is recognized even if a combining mark follows it")
    func combiningMarks() throws {
        let field = try #require(SetCookie("a=\u{301}1;\u{301}x; Secure"))
        #expect(Array(field.value.utf8) == Array("\u{301}1".utf8))
        #expect(field.isSecure)
    }

    @Test(
        "A Max-Age can be an integer of any size, and counts as 400 days at most",
        arguments: [
            ("5", 5), ("0", 0), ("007", 7), ("-5", 0), ("-0", 0), ("34560001", 34_560_000),
            ("99999999999999999999999", 34_560_000), ("-99999999999999999999999", 0), ("-", nil), ("5.", nil),
            ("+5", nil),
        ] as [(String, Int64?)])
    func maxAge(text: String, seconds: Int64?) {
        #expect(SetCookie("a=1; Max-Age=\(text)")?.maxAge == seconds)
    }

    @Test(
        "The date of a cookie is read by the algorithm of RFC 6265 section 5.1.1",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 01-Jan-1970 00:00:01 GMT", 1),
            ("Thu, 01-Jan-70 00:00:01 UTC", 1), ("Fri, 31 Dec 1999 23:59:59 UTC", 946_684_799),
            ("2038 jan 19 03:14:07", 2_147_483_647), ("Tue Jan 19 03:14:07 2038", 2_147_483_647),
            ("January 19 38 03:14:07", 2_147_483_647), ("9999 Dec 31 23:59:59", 253_402_300_799),
            // Numbers with one digit, and text after a number.
            ("Thu, 1-Jan-1970 0:0:1 GMT", 1), ("1st Jan 1970AD 0:00:01.5", 1), ("0:0:1:9 1 JANx 1970", 1),
            // A year of three digits is before 1601. A month or a number can begin a longer word.
            ("1 Jan 170 00:00:00", nil), ("1x Janus 70y 00:00:01z", 1), ("1 01 Jan 70 00:00:01", 978_307_201),
            // The first token of a kind is used, even if its number is out of range.
            ("1 Jan 1970 24:00:00 00:00:00", nil), ("32 1 Jan 1970 00:00:00", nil), ("1 Jan 1970 00:00:60", nil),
            ("1 Jan 1970 00:60:00", nil), ("0 Jan 1970 00:00:00", nil), ("1 Jan 69 00:00:00", 3_124_224_000),
            ("Thu, 30 Feb 2020 00:00:00 GMT", nil), ("29 Feb 2000 00:00:00", 951_782_400), ("tomorrow", nil),
            ("Thu, 01 Jan 1970", nil), ("01 Jan 1500 00:00:00", nil), ("", nil), ("1 jan 19700 00:00:00", nil),
            ("1 jan \u{664}\u{665} 00:00:00", nil), ("1 jan 1970 000:00:00", nil), ("1jan1970 00:00:00", nil),
            ("1 jan 1970\u{E9} 00:00:00", 0), ("1 jan\u{7F} 1970 00:00:00", 0),
        ] as [(String, Int64?)])
    func dates(text: String, seconds: Int64?) {
        #expect(HTTPDate(ofCookie: text)?.secondsSince1970 == seconds)
    }

    private let clock = ManualClock()

    @Test(
        "Cookies that Foundation has joined are split only at the commas between them, not in a date or value",
        arguments: [
            ("a=1; Expires=Wed, 09 Jun 2032 10:18:14 GMT, b=2", ["a=1; Expires=Wed, 09 Jun 2032 10:18:14 GMT", "b=2"]),
            ("a=1,b=2,  c=3", ["a=1", "b=2", "c=3"]), ("a=1, ,b", ["a=1, ,b"]), ("", [""]), (",", [","]),
            ("a=x,=y", ["a=x,=y"]),
        ] as [(String, [String])])
    func joinedCookies(value: String, fields: [String]) {
        #expect(JoinedCookies(value: value).fields == fields)
    }

    @Test("A cookie with a comma and then `name=` in its value stays one cookie and keeps its attributes")
    func commaInCookie() async throws {
        let jar = CookieJar(clock: clock.networkClock)
        let url = try #require(URL(string: "https://api.example.com/x"))
        jar.keep([.setCookie: "sid=abc,v=2; Path=/; Secure"], from: url)
        #expect(jar.cookies.map(\.value) == ["abc,v=2"] && jar.cookies.first?.isSecure == true)
        let commas = String(repeating: ",", count: 250_000)
        #expect(JoinedCookies(value: "a=" + commas).fields.count == 1)
    }
}
