import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Untyped JSON", .endsInTime)
struct JSONValueTests {
    private func sent(_ body: HTTPBody) throws -> (text: String, type: String?) {
        let encoded = try body.encoded()
        return (String(decoding: encoded.data ?? Data(), as: UTF8.self), encoded.headers[.contentType])
    }

    @Test("An object or an array of any JSON values can be a body", .row("I-10", "N-11"))
    func bodies() throws {
        let sorted = JSONEncoder()
        sorted.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let object: [String: Any] = [
            "name": "Ada", "age": 36, "big": UInt64(7), "ratio": 0.5, "isIn": true, "none": Int?.none as Any,
            "some": Int?.some(1) as Any,
            "tags": ["a", "b"], "nested": ["x": [1, 2]], "home": URL(string: "https://a.example/b") ?? "",
        ]
        let (text, type) = try sent(.jsonObject(object, encoder: sorted))
        #expect(
            text
                == #"{"age":36,"big":7,"home":"https://a.example/b","isIn":true,"name":"Ada","nested":{"x":[1,2]},"none":null,"ratio":0.5,"some":1,"tags":["a","b"]}"#
        )
        #expect(type == "application/json")
        #expect(try sent(.jsonArray([1, "two", [3]])).text == #"[1,"two",[3]]"#)
        #expect(try sent(.json(["a": [1, .null, 2.5, true]] as JSONValue)).text == #"{"a":[1,null,2.5,true]}"#)
    }

    @Test("A value that JSON cannot express ends the call before sending; the error names the path, not the value")
    func faults() throws {
        for (object, fault) in [
            (["a": ["b": [1, Data()]]], "\"a.b.[1]\" is of type Data, which cannot be encoded"),
            (["n": Double.nan], "\"n\" is not a finite number"),
        ] as [([String: Any], String)] {
            let error = #expect(throws: NetworkError.self) { try sent(.jsonObject(object)) }
            #expect(error?.kind == .bodyNotEncodable)
            #expect(error?.description.contains(fault) == true)
        }
    }

    @Test("Foundation numbers keep their type: 1 is not a Boolean, and long numbers keep every digit")
    func foundationNumbers() throws {
        #expect(try JSONValue(NSNumber(value: 1)) == .int(1))
        #expect(try JSONValue(NSNumber(value: true)) == .bool(true))
        #expect(try JSONValue(NSNumber(value: 5 as Int8)) == .int(5))
        #expect(try JSONValue(NSNumber(value: 9_007_199_254_740_993)) == .int(9_007_199_254_740_993))
        #expect(try JSONValue(NSNumber(value: 0.5)) == .double(0.5))
    }

    @Test("The key strategies of the decoder and the encoder do not change the names of members")
    func rawNames() throws {
        let (decoder, encoder) = (JSONDecoder(), JSONEncoder())
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        let text = #"{"aKey":{"in_ner":[{"x_y":1}]},"userData":2,"user_name":null}"#
        let value = try decoder.decode(JSONValue.self, from: Data(text.utf8))
        #expect(value["aKey"]?["in_ner"]?[0]?["x_y"]?.int == 1)
        #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == text)
        let object = try decoder.decode([String: JSONValue].self, from: Data(text.utf8))
        #expect(Set(object.keys) == ["aKey", "userData", "user_name"] && object["aKey"]?["in_ner"] != nil)
    }

    @Test("Integers keep all of their 64 bits")
    func longIntegers() throws {
        let text = "[-9223372036854775808,9223372036854775807,9223372036854775808,18446744073709551615]"
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(value == [.int(.min), .int(.max), .uint(1 << 63), .uint(.max)])
        #expect(String(decoding: try JSONEncoder().encode(value), as: UTF8.self) == text)
        #expect(try JSONValue(NSNumber(value: UInt64.max)) == .uint(.max))
        #expect(try JSONValue(UInt64.max) == .uint(.max) && JSONValue(Int64.min) == .int(.min))
    }

    @Test("Any JSON can be read, accessed by name and index, and written unchanged")
    func reading() throws {
        let text = #"{"a":[1,null,{"b":"x"}],"c":1e300,"d":true,"e":-7}"#
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(value["a"]?[2]?["b"]?.string == "x")
        #expect(value["a"]?[1] == .null)
        #expect(value["a"]?[3] == nil && value["z"] == nil && value["d"]?["x"] == nil)
        #expect(value["c"]?.double == 1e300 && value["e"]?.int == -7 && value["e"]?.double == -7)
        #expect(value["d"]?.bool == true && value["a"]?.array?.count == 3 && value.object?.count == 4)
        #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value)) == value)
    }

    @Test(
        "A closure can encode a body and set its headers; other bodies do not have these headers", .row("I-12", "I-13")
    )
    func ownEncoder() async throws {
        struct Lines: Endpoint {
            let body: HTTPBody
            var path: EndpointPath { "lines" }
            var method: HTTPMethod { .post }
        }
        func lines(_ values: [String]) -> HTTPBody {
            .encoded(headers: [.contentType: "text/x-lines", "X-Count": "\(values.count)"]) {
                guard !values.contains(where: { $0.contains("\n") }) else { throw UserError.taken }
                return Data(values.joined(separator: "\n").utf8)
            }
        }
        let stub = StubTransport { _ in .status(.noContent) }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        try await service.request(Lines(body: lines(["a", "b"])))
        try await service.request(Lines(body: .string("plain")))
        #expect(stub.requests.map { $0.allHeaders["X-Count"] } == ["2", nil])
        #expect(stub.requests.map { $0.allHeaders[.contentType] } == ["text/x-lines", "text/plain; charset=utf-8"])
        #expect(stub.requests[0].body.data == Data("a\nb".utf8))
        let error = await Fixture.failure { try await service.request(Lines(body: lines(["\n"]))) } as? NetworkError
        #expect(error?.kind == .bodyNotEncodable && error?.underlying as? UserError == .taken)
        #expect(stub.requests.count == 2)
    }

    @Test("A merge of queries replaces all items, prefers the new values or prefers the existing values", .row("I-06"))
    func queries() {
        let old: URLQuery = ["a": 1, "b": 2]
        let new: URLQuery = ["b": "x & y", "c": 4]
        #expect(old.merging(new, .replaceAll).percentEncoded == "b=x%20%26%20y&c=4")
        #expect(old.merging(new, .overwrite).percentEncoded == "a=1&b=x%20%26%20y&c=4")
        #expect(old.merging(new, .keepExisting).percentEncoded == "a=1&b=2&c=4")
        #expect((["t": 1, "t": 2] as URLQuery).merging(["t": 3, "t": 4]).percentEncoded == "t=3&t=4")
    }
}
