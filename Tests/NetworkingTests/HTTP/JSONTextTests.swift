import Foundation
import Testing

@testable import Networking

/// The cases are those of public collections of JSON texts (RFC 8259), written anew.
@Suite("Reading JSON texts", .endsInTime)
struct JSONTextTests {
    private static let accepted = [
        "[]", "{}", " [ ] ", "\n{\t}\r", "null", "true", "false", "0", "-0", "7", "-7.25", "1e3", "1E+2", "1e-2", "0e1",
        "0.000001", "-1", "123e65", "[1,2]", "[1 , null]", "[[],[[]],{}]", "{\"a\":1}", "{\"\":0}", "{\"a\" : [] }",
        "{\"a\":1,\"b\":{\"c\":[true,false,null]}}", "\"\"", "\" \"", "\"a\"", "\"é😀\"", #""\"\\\/\b\f\n\r\t""#,
        #""\u0041""#, #""\u00e9\u20AC""#, #""\ud83d\uDE00""#, #""\u0000""#, "\"\u{7F}\"", "\"\u{2028}\"",
        "[\"\u{FEFF}\"]",
        "9223372036854775807", "-9223372036854775808", "18446744073709551615", "1.7976931348623157e308", "5e-324",
    ]

    private static let rejected = [
        "", " ", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[,1]", "[1,,2]", "[1 2]", "[1}", "{]", "[}", "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}", "{,\"a\":1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{a:1}", "{'a':1}", "{1:1}", "{\"a\":1]",
        "{\"a\":1",
        "{\"a\"", "{\"a", "nul", "nulll", "True", "tru", "truefalse", "NaN", "Infinity", "-Infinity", "-", "+1", "01",
        "-01", "1.", ".5", "-.5", "1e", "1e+", "1.e1", "0x1", "1_0", "1a", "--1", "1 2", "[1]x", "\"", "\"a", #""\""#,
        #""\x""#, #""\u""#, #""\u12""#, #""\u12G4""#, #""\uD83D""#, #""\uD83Dx""#, #""\uD83D\u0041""#, #""\uDE00""#,
        #""\uD83D\uD83D""#, #""\U0041""#, "\"\t\"", "\"\n\"", "\"\u{0}\"", "\"\u{1F}\"", "// a\n1", "/* a */1", "[1]/",
        "\u{C}1",
        "\u{A0}1", "\u{2028}1", "1e400", "-1e400",
    ]

    @Test("A JSON text is accepted, and has the value that Foundation reads", arguments: accepted)
    func accepts(text: String) throws {
        let value = try JSONValue(json: Data(text.utf8))
        #expect(try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) == value)
        #expect(try JSONValue(json: JSONEncoder().encode(value)) == value)
    }

    @Test("A text that is not JSON is an error", arguments: rejected)
    func rejects(text: String) {
        #expect(throws: DecodingError.self) { try JSONValue(json: Data(text.utf8)) }
    }

    @Test(
        "An error says what was expected, what was found, and where",
        arguments: [
            ("[1,]", "expected a value, found \"]\" at byte 3"), ("[1 2]", "a comma or the end of the array or object"),
            ("{\"a\" 1}", "expected a colon, found \"1\" at byte 5"),
            ("{1", "expected the name of a member or }, found"),
            ("[1}", "found \"}\" at byte 2"), ("\"a", "expected a quotation mark, found the end of the text at byte 2"),
            ("1 2", "expected the end of the text, found \"2\" at byte 2"),
            ("-x", "expected a digit, found \"x\" at byte 1"),
            ("\"\u{1B}\"", "found \"\\u{1B}\" at byte 1"), ("1e999", "1e999, which is too large"),
            (String(repeating: "[", count: 513), "more than 512 arrays and objects nested in each other at byte 512"),
        ])
    func faults(text: String, reason: String) {
        let error = #expect(throws: DecodingError.self) { try JSONValue(json: Data(text.utf8)) }
        guard case .dataCorrupted(let context) = error else { return #expect(Bool(false), "\(error as Any)") }
        #expect(context.debugDescription.contains(reason))
    }

    @Test("Bytes that are not UTF-8 are an error, UTF-16 and UTF-32 with or without a byte-order mark are not")
    func encodings() throws {
        for bytes in [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]] as [[UInt8]] {
            #expect(throws: DecodingError.self) { try JSONValue(json: Data(bytes)) }
        }
        for encoding in [.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian] as [String.Encoding] {
            let text = try #require("[\"é\"]".data(using: encoding))
            #expect(try JSONValue(json: text) == ["é"], "\(encoding)")
        }
        #expect(try JSONValue(json: Data([0xEF, 0xBB, 0xBF] + Array("[1]".utf8))) == [1])
    }

    @Test("A number keeps its digits: an integer, a Double if it is equal to the text, otherwise a decimal number")
    func numbers() throws {
        let price = try #require(Decimal(string: "12345678901234567.89"))
        let texts: [(String, JSONValue)] = [
            ("1.0", .int(1)), ("1e3", .int(1_000)), ("0.1", .double(0.1)), ("0.10000000000000000", .double(0.1)),
            ("18446744073709551615", .uint(.max)), ("12345678901234567.89", .decimal(price)),
            ("-12345678901234567.89", .decimal(-price)), ("1e300", .double(1e300)), ("-0", .int(0)),
        ]
        for (text, value) in texts {
            #expect(try JSONValue(json: Data(text.utf8)) == value, "\(text)")
            #expect(try JSONDecoder().decode([JSONValue].self, from: Data("[\(text)]".utf8)) == [value], "\(text)")
        }
        #expect(String(decoding: try JSONEncoder().encode(JSONValue.decimal(price)), as: UTF8.self) == "\(price)")
        #expect(try JSONValue(price) == .decimal(price))
        #expect(try JSONValue(NSDecimalNumber(decimal: price)) == .decimal(price))
        #expect(try JSONValue(Decimal(7)) == .int(7))
        #expect(throws: EncodingError.self) { try JSONValue(["total": Decimal.nan]) }
        #expect(JSONValue.decimal(price).decimal == price && JSONValue.double(0.1).decimal == Decimal(string: "0.1"))
        #expect(JSONValue.int(3).decimal == 3 && JSONValue.uint(.max).decimal == Decimal(UInt64.max))
        #expect(JSONValue.string("1").decimal == nil && JSONValue.double(1e300).decimal == nil)
        #expect(JSONValue.decimal(price).double == 12_345_678_901_234_567.89)
        // JSONEncoder writes -0.0 as -0, which is an integer.
        #expect(try JSONValue(json: Data("-0.0".utf8)) == .int(0))
    }

    @Test("Values, names and ends are counted, so that memory is limited")
    func count() throws {
        let text = Data(#"{"a":[0,0]}"#.utf8)
        #expect(throws: DecodingError.self) { try JSONValue(json: text, depth: 9, maximumCount: 6) }
        #expect(try JSONValue(json: text, depth: 9, maximumCount: 7) == ["a": [0, 0]])
    }

    @Test("If a name occurs twice in an object, the last value counts")
    func names() throws {
        #expect(try JSONValue(json: Data(#"{"a":1,"b":{"a":3},"a":2}"#.utf8)) == ["a": 2, "b": ["a": 3]])
    }

    @Test("512 arrays inside each other are read; bodies that the library reads by itself may have 64")
    func depth() throws {
        func nested(_ depth: Int) -> Data {
            Data((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(try JSONValue(json: nested(512)).array?.count == 1)
        #expect(throws: DecodingError.self) { try JSONValue(json: nested(513)) }
        #expect(try JSONValue(shallowJSON: nested(64)).array?.count == 1)
        #expect(throws: DecodingError.self) { try JSONValue(shallowJSON: nested(65)) }
        let objects = Data((String(repeating: "{\"a\":", count: 65) + "1" + String(repeating: "}", count: 65)).utf8)
        #expect(throws: DecodingError.self) { try JSONValue(shallowJSON: objects) }
    }

    @Test("On a thread with a small stack, a deep value is read, compared, hashed and described, but not encoded")
    func deepValues() async throws {
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<String, Never>) in
            let thread = Thread { continuation.resume(returning: JSONTextTests.tryDeepValues()) }
            thread.stackSize = 512 << 10
            thread.start()
        }
        #expect(outcome == "")
    }

    /// Returns what is wrong.
    private static func tryDeepValues() -> String {
        func text(_ depth: Int) -> Data {
            Data(
                (String(repeating: #"{"a":["#, count: depth / 2) + "1" + String(repeating: "]}", count: depth / 2)).utf8
            )
        }
        guard let (one, other) = try? (JSONValue(json: text(512)), JSONValue(json: text(512))),
            let different = try? JSONValue(json: text(510)), let flat = try? JSONValue(json: text(64))
        else { return "not read" }
        guard one == other, one != different, one.hashValue == other.hashValue else { return "not compared" }
        guard "\(one)" == "(arrays and objects are nested more than 64 levels deep)" else { return "\(one)" }
        guard "\(flat)".contains("[1]"), (try? JSONEncoder().encode(flat)) != nil else {
            return "64 levels: not encoded"
        }
        do { _ = try JSONEncoder().encode(different) } catch let error as EncodingError {
            return "\(error)".contains("nested more than 64 levels deep") ? "" : "\(error)"
        } catch { return "\(error)" }
        return "encoded"
    }
}
