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
                == "the body has more than 512 arrays and objects inside each other at byte 512 (reading JSONValue)")
        #expect(
            await reason("{\"a\":\(nested(33))}", as: Holder.self)
                == "the body has more than 32 arrays and objects inside each other (reading Holder)")
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
        let list = try PropertyListEncoder().encode(["a": [7, -8]])
        let value = try PropertyListDecoder().decode([String: JSONValue].self, from: list)
        #expect(value == ["a": [7, -8]])
    }

    @Test("Decoding a JSONValue ends with a task that does nothing else, and with no other task")
    func endedDecoding() async {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            func isDecoded() -> Bool { (try? JSONDecoder().decode([JSONValue].self, from: Data("[1]".utf8))) != nil }
            return [isDecoded(), JSONValue.$endsWithTask.withValue(true) { isDecoded() }]
        }
        task.cancel()
        #expect(await task.value == [true, false])
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
