import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Encoding parameters", .endsInTime)
struct URLQueryEncoderTests {
    private struct Filter: Encodable, Sendable {
        struct Range: Encodable, Sendable {
            let from: Int
            let to: Double?
        }

        var name = "Ada & Grace"
        var isNew = true
        var tags = ["a", "b"]
        var range = Range(from: 1, to: nil)
        var note: String?
    }

    private func text(_ value: some Encodable, _ encoder: URLQueryEncoder = URLQueryEncoder()) throws -> String {
        try encoder.encode(value).items.map { item in item.value.map { "\(item.name)=\($0)" } ?? item.name }
            .joined(separator: "&")
    }

    @Test(
        "By default, names are sorted, nesting and arrays use brackets, Booleans are true or false, nil is omitted",
        .row("R-04"))
    func standard() throws {
        #expect(try text(Filter()) == "isNew=true&name=Ada & Grace&range[from]=1&tags[]=a&tags[]=b")
        #expect(
            try URLQueryEncoder().encode(Filter()).percentEncoded
                == "isNew=true&name=Ada%20%26%20Grace&range%5Bfrom%5D=1&tags%5B%5D=a&tags%5B%5D=b")
    }

    @Test("Arrays use brackets, repeated names, indexes or a closure, even if they are nested", .row("R-04"))
    func arrays() throws {
        let value = ["a": [[1, 2], [3]]]
        #expect(try text(value) == "a[][]=1&a[][]=2&a[][]=3")
        #expect(try text(value, URLQueryEncoder(arrays: .repeated)) == "a=1&a=2&a=3")
        #expect(try text(value, URLQueryEncoder(arrays: .indexed)) == "a[0][0]=1&a[0][1]=2&a[1][0]=3")
        #expect(try text(["a": [7]], URLQueryEncoder(arrays: .custom { "\($0).\($1)" })) == "a.0=7")
    }

    @Test("Booleans, nesting, nil and order can be configured")
    func settings() throws {
        var encoder = URLQueryEncoder(nesting: .dots, booleans: .numeric, nils: .empty, sortsKeys: false)
        #expect(
            try text(Filter(), encoder) == "name=Ada & Grace&isNew=1&tags[]=a&tags[]=b&range.from=1&range.to=&note=")
        encoder.nils = .null
        encoder.nesting = .custom { "\($0)->\($1)" }
        #expect(try text(["r": Filter.Range(from: 1, to: nil)], encoder) == "r->from=1&r->to=null")
        encoder.nils = .flag
        #expect(try text(["a": String?.none], encoder) == "a")
    }

    @Test("Dates and bytes have their own formats")
    func datesAndBytes() throws {
        struct Stamp: Encodable {
            var at = Date(timeIntervalSince1970: 1_700_000_000.5)
            var data = Data([255, 0])
        }
        func text(_ dates: URLQueryEncoder.Dates, _ data: URLQueryEncoder.Bytes = .base64) throws -> String {
            try self.text(Stamp(), URLQueryEncoder(dates: dates, data: data))
        }
        #expect(try text(.iso8601) == "at=2023-11-14T22:13:20Z&data=/wA=")
        #expect(try text(.secondsSince1970) == "at=1700000000.5&data=/wA=")
        #expect(try text(.millisecondsSince1970, .custom { "\($0.count) bytes" }) == "at=1700000000500&data=2 bytes")
        #expect(try text(.custom { _ in "then" }) == "at=then&data=/wA=")
        #expect(try text(.deferred, .deferred).hasPrefix("at=721692800.5&data[]=255"))
    }

    @Test(
        "Property names can be converted",
        arguments: [
            (URLQueryEncoder.Keys.snakeCase, "my_url_property"), (.unchanged, "myURLProperty"),
            (.custom { $0.uppercased() }, "MYURLPROPERTY"),
        ])
    func keys(keys: URLQueryEncoder.Keys, name: String) throws {
        struct Value: Encodable { var myURLProperty = 1 }
        #expect(try text(Value(), URLQueryEncoder(keys: keys)) == "\(name)=1")
        #expect(URLQueryEncoder.Keys.snakeCase.write("oneTwo3Four") == "one_two3_four")
    }

    @Test("The result of a custom `encode(to:)` is used")
    func custom() throws {
        struct Parent: Encodable {
            enum Keys: String, CodingKey { case a, list, object, extra }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                var list = container.nestedUnkeyedContainer(forKey: .list)
                try list.encode(1)
                try list.encodeNil()
                var inner = list.nestedContainer(keyedBy: Keys.self)
                try inner.encode("x", forKey: .a)
                var object = container.nestedContainer(keyedBy: Keys.self, forKey: .object)
                try object.encode(URL(string: "https://a.example/"), forKey: .a)
                try 7.encode(to: container.superEncoder(forKey: .extra))
            }
        }
        #expect(try text(Parent()) == "extra=7&list[]=1&list[][a]=x&object[a]=https://a.example/")
        #expect(try text(["n": UInt64.max]) == "n=18446744073709551615")
        #expect(try text(["d": Decimal(string: "1.10")]) == "d=1.1")
    }

    @Test("A value without property names is an error; the error for a number that is not finite contains its path")
    func errors() throws {
        #expect(throws: EncodingError.self) { try URLQueryEncoder().encode([1, 2]) }
        #expect(throws: EncodingError.self) { try URLQueryEncoder().encode("text") }
        let error = #expect(throws: EncodingError.self) { try URLQueryEncoder().encode(["a": ["b": Double.nan]]) }
        guard case .invalidValue(_, let context) = error else { return #expect(Bool(false)) }
        #expect(context.codingPath.map(\.stringValue) == ["a", "b"])
    }

    private struct Call: Endpoint {
        let path: EndpointPath = "items"
        var method = HTTPMethod.get
        var query: URLQuery = [:]
        var body = HTTPBody.empty
        var parameters = RequestParameters.none
    }

    private func sent(_ call: Call) async throws -> HTTPRequest {
        let stub = StubTransport { _ in .status(.ok) }
        try await NetworkService(environment: Fixture.environment) { $0.transport = stub }.request(call)
        return stub.requests[0]
    }

    @Test(
        "Parameters are sent in the query or in the body; the parameters specify which, or the method decides",
        .row("R-04"))
    func destinations() async throws {
        let filter = ["a": "1&2"]
        for method in [HTTPMethod.get, .head, .delete] {
            let request = try await sent(Call(method: method, query: ["q": 1], parameters: .methodDependent(filter)))
            #expect(request.url.query == "q=1&a=1%262")
            #expect(request.body.isEmpty)
        }
        for method in [HTTPMethod.post, .put, .patch] {
            let request = try await sent(Call(method: method, query: ["q": 1], parameters: .methodDependent(filter)))
            #expect(request.url.query == "q=1")
            #expect(request.body.data == Data("a=1%262".utf8))
            #expect(request.allHeaders[.contentType] == "application/x-www-form-urlencoded; charset=utf-8")
        }
        #expect(try await sent(Call(method: .post, parameters: .query(filter))).url.query == "a=1%262")
        #expect(try await sent(Call(method: .delete, parameters: .form(filter))).body.data == Data("a=1%262".utf8))
        #expect(try await sent(Call(method: .post, parameters: .json(filter))).body.data == Data(#"{"a":"1&2"}"#.utf8))
        let own = Call(method: .post, body: .string("own"), parameters: .form(filter))
        await #expect(throws: NetworkError.self, "two bodies") { _ = try await sent(own) }
        let query = Call(method: .post, body: .string("own"), parameters: .query(filter))
        #expect(try await sent(query).body.data == Data("own".utf8))
    }

    @Test("A form of names and values keeps their order")
    func form() async throws {
        let request = try await sent(Call(method: .post, body: .form(["b": 1, "a": "ü", "b": 2])))
        #expect(request.body.data == Data("b=1&a=%C3%BC&b=2".utf8))
    }

    @Test("Parameters that cannot be encoded end the call before sending, and the error names their path")
    func unencodable() async {
        let query = await Fixture.failure { _ = try await sent(Call(query: .encoded(["a": Double.infinity]))) }
        #expect((query as? NetworkError)?.kind == .invalidRequest)
        #expect("\(query as Any)".contains("\"a\" is not a finite number"))
        let form = await Fixture.failure {
            _ = try await sent(Call(method: .post, parameters: .form(["a": Double.nan])))
        }
        #expect((form as? NetworkError)?.kind == .bodyNotEncodable)
    }

    @Test("A number that is not finite is refused in a query", arguments: [Double.nan, .infinity, -.infinity])
    func noNumber(value: Double) async throws {
        let stub = StubTransport { _ in .text("") }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let error = await Fixture.failure { try await service.request(.get("x").query("lat", value)) } as? NetworkError
        #expect(error?.kind == .invalidRequest && error?.reason?.contains("\"lat\"") == true, "\(error as Any)")
        #expect(stub.requests.isEmpty)
    }
}
