import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("JSON of a hostile server", .endsInTime)
struct HostileJSONTests {
    private let stub = StubTransport()

    private func service() -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = ManualClock().networkClock
        }
    }

    private struct Holder: Decodable {
        let a: JSONValue
    }

    private func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    @Test("JSON of any kind may be nested 512 times, inside a type of the app 32 times; the error names the limit")
    func depths() async throws {
        func value<Value: Decodable & Sendable>(_ body: String, as type: Value.Type) async throws -> Value {
            stub.on(.get, "/v1/a", .json(text: body))
            return try await service().request(.get("a"), as: .json(type))
        }
        #expect(try await value(nested(512), as: JSONValue.self).array?.count == 1)
        #expect(try await value("[\(nested(500))]", as: [JSONValue]?.self)?.count == 1)
        #expect(try await value("{\"a\":\(nested(31))}", as: Holder.self).a.array?.count == 1)
        func reason<Value: Decodable & Sendable>(_ body: String, as type: Value.Type) async -> String? {
            await Fixture.failure { _ = try await value(body, as: type) }?.originalNetworkError?.reason
        }
        #expect(
            await reason(nested(513), as: JSONValue.self)
                == "the body has more than 512 arrays and objects nested in each other at byte 512 (reading JSONValue)")
        #expect(
            await reason("{\"a\":\(nested(33))}", as: Holder.self)
                == "the body has more than 32 arrays and objects nested in each other (reading Holder)")
        #expect(await reason("1e400", as: JSONValue.self)?.contains("1e400, which is too large") == true)
    }

    @Test("JSON of another kind is an error, also for an optional value")
    func kinds() async throws {
        stub.on(.get, "/v1/a", .json(text: "7"), .json(text: "7"), .json(text: "null"))
        let list = await Fixture.failure { _ = try await service().request(.get("a"), as: .json([JSONValue]?.self)) }
        #expect(list?.originalNetworkError?.kind == .undecodableBody)
        let object = await Fixture.failure {
            _ = try await service().request(.get("a"), as: .json([String: JSONValue]?.self))
        }
        #expect(object?.originalNetworkError?.kind == .undecodableBody)
        #expect(try await service().request(.get("a"), as: .json([JSONValue]?.self)) == nil)
    }

    @Test("A JSONValue keeps integers with a decoder that knows no decimal numbers")
    func propertyLists() throws {
        let list = try PropertyListEncoder().encode(["a": [7, -8, 1, 0]])
        let value = try PropertyListDecoder().decode([String: JSONValue].self, from: list)
        #expect(value == ["a": [7, -8, 1, 0]])
    }

    @Test("Decoding a JSONValue ends with a task that does nothing else, and with no other task")
    func endedDecoding() async {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            func isDecoded() -> Bool { (try? JSONDecoder().decode([JSONValue].self, from: Data("[1]".utf8))) != nil }
            return [isDecoded(), JSONValue.$work.withValue(JSONValue.Work()) { isDecoded() }]
        }
        task.cancel()
        #expect(await task.value == [true, false])
    }

    @Test("A stored response is decoded with the limits of a response that has just arrived")
    func storedDecoding() async throws {
        struct Probe: Decodable {
            let isLimited: Bool
            init(from decoder: any Decoder) throws { isLimited = JSONValue.work != nil }
        }
        let stub = StubTransport()
        stub.on(nil, nil, StubResponse(.ok, headers: [.cacheControl: "max-age=60"], body: Data("[]".utf8)))
        let service = NetworkService(environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com"))) {
            $0.transport = stub
            $0.cache = ResponseCache()
        }
        let _: Data = try await service.request(.get("a"), as: .data)
        let stored = try #require(service.cachedResponse(.get("a"), as: .json(Probe.self)))
        #expect(stored.value.isLimited)
    }

    /// A type that is much larger than the text of its values.
    private struct Large: Codable, Sendable {
        var a, b, c, d: String?
        var value: JSONValue?
    }

    @Test(
        "Too many values are refused before they are decoded into types of the app, which are larger than the text",
        arguments: [("{}", 250_000), ("[]", 700_000), ("7", 2_000_001)])
    func manyValues(element: String, count: Int) throws {
        let many = Data(("[" + repeatElement(element, count: count).joined(separator: ",") + "]").utf8)
        let error = #expect(throws: DecodingError.self) { _ = try JSONDecoder().read([Large].self, from: many) }
        #expect(error.map { "\($0)".contains("at most 2000000 values") } == true)
    }

    @Test("A call that allows larger responses also allows more values", arguments: [nil, 64 << 20, 1 << 30, Int.max])
    func moreValues(size: Int?) async throws {
        let many = "[" + repeatElement("{}", count: 250_001).joined(separator: ",") + "]"
        stub.on(.get, "/v1/a", .json(text: many))
        let settings = RequestSettings { if let size { $0.maximumResponseSize = size } }
        let service = service()
        guard size == nil else {
            let values: [[String: Int]] = try await service.request(.get("a"), with: settings)
            #expect(values.count == 250_001)
            return
        }
        let error = await Fixture.failure { let _: [[String: Int]] = try await service.request(.get("a")) }
        #expect(error?.originalNetworkError?.kind == .undecodableBody)
        let text = "\(try #require(error))"
        #expect(text.contains("at most 2000000 values") && text.contains("maximumResponseSize"), "\(text)")
    }

    @Test("Commas and brackets inside strings are no values, and many values are no error")
    func fewValues() throws {
        let text = "[\"" + String(repeating: #",[{\",\\"#, count: 300_000) + "\"]"
        #expect(Data(text.utf8).hasFewValues(2_000_000))
        #expect(!Data(text.utf8).hasFewValues(2_000_000, hasOtherStrings: true))
        let quoted = "[\"\\\"\"," + repeatElement("{}", count: 250_001).joined(separator: ",") + "]"
        for encoding in [String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian] {
            #expect(try !#require(quoted.data(using: encoding)).hasFewValues(2_000_000))
            #expect(try #require(text.data(using: encoding)).hasFewValues(2_000_000))
        }
        #expect(try JSONDecoder().read([String].self, from: Data(text.utf8))[0].utf8.count == 1_800_000)
        let many = Data(("[" + repeatElement("7", count: 500_000).joined(separator: ",") + "]").utf8)
        #expect(try JSONDecoder().read([Int].self, from: many).count == 500_000)
    }

    @Test(
        "Decoding values of any kind inside a type of the app has an end, which comes the sooner, the deeper they are")
    func costlyValues() {
        for (depth, count, isRead) in [(1, 20_000, true), (1, 350_000, false), (28, 70_000, false)] {
            let begin = String(repeating: "[", count: depth)
            let end = String(repeating: "]", count: depth)
            let text = "{\"value\":\(begin)" + repeatElement("true", count: count).joined(separator: ",") + "\(end)}"
            let value = JSONValue.$work.withValue(JSONValue.Work()) {
                try? JSONDecoder().read(Large.self, from: Data(text.utf8))
            }
            #expect((value != nil) == isRead, "\(depth) \(count)")
        }
    }

    @Test("The body of an error is read as the endpoint's error if it has at most 64 KiB")
    func serverErrors() async throws {
        for (size, isRead) in [(65_536, true), (65_537, false)] {
            let text = "{\"a\":\"" + String(repeating: "x", count: size - 8) + "\"}"
            stub.on(.get, "/v1/a", .json(text: text, status: .badRequest))
            let call = AdHocEndpoint.get("a").failing(as: [String: String].self)
            let error = await Fixture.failure { _ = try await service().request(call, as: .string) }
            #expect((error is ServerFailure<[String: String]>) == isRead)
            #expect(error?.originalNetworkError?.response?.data.count == size)
        }
    }

    @Test("An error shows at most 64 characters of a name that the server has chosen")
    func longNames() async throws {
        stub.on(.get, "/v1/a", .json(text: "{\"\(String(repeating: "k", count: 100_000))\":\"x\"}"))
        let error = await Fixture.failure {
            _ = try await service().request(.get("a"), as: .json([String: Int].self))
        }
        let reason = try #require(error?.originalNetworkError?.reason)
        #expect(reason.hasPrefix("\"\(String(repeating: "k", count: 64))…\": expected Int"))
        #expect(reason.utf8.count < 300)
    }
}
