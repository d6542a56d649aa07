import Foundation
import Networking
import Testing

extension Loopback {
    /// Tests that an independent parser reads the items that were encoded as a query or a form.
    @Suite(
        "Parameters read back by Python",
        .enabled(if: Tool.python.isExpected, Tool.python.comment))
    struct ParameterReadBackTests {
        /// Returns random text: separators, blanks, control characters and any Unicode scalar.
        private static func text(_ random: inout SystemRandomNumberGenerator) -> String {
            var text = ""
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: text.append("&=+%#?/;:@[] \t\n\r\"'\\".randomElement(using: &random) ?? "x")
                case 1: text.append("abcXYZ019-._~".randomElement(using: &random) ?? "x")
                default:
                    let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random)) ?? "ü"
                    text.unicodeScalars.append(scalar)
                }
            }
            return text
        }

        @Test("`urllib.parse` reads the encoded items unchanged and in order, for arbitrary Unicode")
        func readBack() throws {
            var random = SystemRandomNumberGenerator()
            let scratch = try Scratch()
            var expected: [[[String]]] = []
            var lines: [String] = []
            for _ in 0..<500 {
                let items = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    [Self.text(&random), Self.text(&random)]
                }
                expected.append(items)
                lines.append(URLQuery(items.map { URLQuery.Item($0[0], $0[1]) }).percentEncoded)
            }
            try Data(lines.joined(separator: "\n").utf8).write(to: scratch.file("lines"))
            let script = """
                import json, urllib.parse
                lines = open("lines", encoding="ascii").read().split("\\n")
                pairs = [urllib.parse.parse_qsl(line, keep_blank_values=True, strict_parsing=True) for line in lines]
                json.dump(pairs, open("pairs", "w"))
                """
            try Data(script.utf8).write(to: scratch.file("read.py"))
            try Tool.python.run(["read.py"], in: scratch.url)
            let read = try JSONDecoder().decode([[[String]]].self, from: Data(contentsOf: scratch.file("pairs")))
            #expect(read.count == expected.count)
            for (read, expected) in zip(read, expected) {
                #expect(
                    read.map { $0.map { Array($0.unicodeScalars) } }
                        == expected.map { $0.map { Array($0.unicodeScalars) } }
                )
            }
        }

        @Test("Nested values have the names that servers expect, such as user[name] and tags[]", .row("R-04"))
        func nested() throws {
            struct Value: Encodable {
                var user = ["name": "Ünï & Cödé", "email": "a+b@c.example"]
                var tags = ["x y", "z=1"]
            }
            let scratch = try Scratch()
            try Data(URLQueryEncoder().encode(Value()).percentEncoded.utf8).write(to: scratch.file("line"))
            let script = """
                import json, urllib.parse
                json.dump(urllib.parse.parse_qs(open("line").read(), strict_parsing=True), open("read", "w"))
                """
            try Data(script.utf8).write(to: scratch.file("read.py"))
            try Tool.python.run(["read.py"], in: scratch.url)
            let read = try JSONDecoder().decode([String: [String]].self, from: Data(contentsOf: scratch.file("read")))
            #expect(
                read == ["user[name]": ["Ünï & Cödé"], "user[email]": ["a+b@c.example"], "tags[]": ["x y", "z=1"]])
        }
    }
}
