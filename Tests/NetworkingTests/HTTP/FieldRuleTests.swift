import Foundation
import Testing

@testable import Networking

@Suite("Fields that must not be sent", .endsInTime)
struct FieldRuleTests {
    private func fault(_ field: HTTPHeader) throws -> String? {
        let request = HTTPRequest(.get, try #require(URL(string: "https://a.example/")), headers: [field])
        do { try request.validate() } catch { return (error as? NetworkError)?.reason }
        return nil
    }

    @Test(
        "A value with a control character or line separator is refused",
        arguments: [
            "a\u{1B}b", "a\u{7F}", "a\rb", "a\nb", "a\0b", "a\u{80}", "a\u{85}b", "a\u{9F}", "a\u{2028}b", "a\u{2029}",
        ])
    func controls(value: String) throws {
        #expect(try fault(HTTPHeader("X-A", value))?.contains("its value contains a control character") == true)
    }

    @Test(
        "Other characters are allowed",
        arguments: ["", "a", "a\tb", "é", "\u{A0}", "日本", "😀", "a\u{2027}b", "\u{AD}"])
    func texts(value: String) throws {
        #expect(try fault(HTTPHeader("X-A", value)) == nil)
    }

    @Test(
        "A Host that is not a host with an optional port is refused",
        arguments: [
            "", "a, b", "a b", "u@a.example", "a.example/", "a?b", "a#b", "a.example:x",
            "a.example:8080:1", ":80",
            "[::1", "[]", "::1", "[::1]x", "a\\b", "é.example", "a.example:123456", "<a>", "\"a\"",
        ])
    func hosts(value: String) throws {
        #expect(try fault(HTTPHeader(.host, value))?.hasPrefix("header Host: ") == true)
    }

    @Test(
        "A host, an address and a port are accepted",
        arguments: [
            "a", "a.example", "a.example:8080", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:443", "my_host",
            "xn--a.example", "a%2Fb",
        ])
    func accepted(value: String) throws {
        #expect(try fault(HTTPHeader(.host, value)) == nil)
    }
}
