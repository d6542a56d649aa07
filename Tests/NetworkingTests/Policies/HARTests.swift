import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("HAR archives", .endsInTime)
struct HARTests {
    private func record(_ redaction: Redaction = .revealed) async throws -> HARArchive {
        let stub = StubTransport()
        stub.on(.get, "/v1/users/7", .status(.serviceUnavailable), .json(text: #"{"id":"7"}"#))
        stub.on(.post, "/v1/users", StubResponse(.found, headers: [.location: "/v1/users/8"]))
        stub.on(.get, "/v1/users/8", StubResponse(.ok, headers: [.contentType: "image/png"], body: Data([0xFF, 0x00])))
        stub.on(.get, "/v1/gone", .failure(.cannotConnect))
        stub.on(.put, "/v1/blob", .status(.noContent))
        let recorder = HARRecorder(redaction: redaction)
        let service = NetworkService(environment: Fixture.environment) {
            $0.retry = RetryPolicy(retries: 1, on: .statuses(.serviceUnavailable))
            $0.transport = stub
            $0.observers = [recorder]
        }
        _ = try await service.request(.get("users/7").query(["b": "2", "a": "1 2"])) as User
        _ = try await service.request(.post("users").body(.json(["name": "Ada"]))) as Data
        _ = await Fixture.failure { try await service.request(.get("gone")) }
        try await service.request(
            .put("blob").body(.multipart([.data("f", Data([0xFE]), fileName: "f")], boundary: "b")))
        return recorder.archive
    }

    @Test("An archive has an entry for each request of each attempt, in order, and all required members")
    func format() async throws {
        let archive = try await record()
        #expect(archive.log.entries.map(\.response.status) == [503, 200, 302, 200, 0, 204])
        #expect(archive.log.entries[2].response.redirectURL == "/v1/users/8")
        #expect(archive.log.entries[1].comment?.contains("attempt 2") == true)
        #expect(archive.log.entries[0].request.queryString?.map(\.value) == ["2", "1 2"])
        try HARChecker.check(archive.encoded())
        #expect(try HARArchive(data: archive.encoded()) == archive)
    }

    @Test("The checker rejects archives that developer tools would reject")
    func checker() async throws {
        let text = String(decoding: try await record().encoded(), as: UTF8.self)
        for (part, other) in [
            (#""version" : "1.2""#, #""version" : "7""#), (#""httpVersion""#, #""http""#),
            (#""wait" : "#, #""wait" : -"#),
            (#""startedDateTime" : ""#, #""startedDateTime" : "x"#),
        ] {
            let broken = Data(text.replacingOccurrences(of: part, with: other).utf8)
            #expect(throws: (any Error).self, "\(other) was not detected") { try HARChecker.check(broken) }
        }
    }

    @Test("A redacted archive is also valid, and contains no bodies")
    func redacted() async throws {
        let data = try await record(.standard).encoded()
        try HARChecker.check(data)
        #expect(!String(decoding: data, as: UTF8.self).contains("Ada"))
    }

    @Test("The recorder drops the oldest entries beyond its limit, and `clear` removes all entries")
    func limit() async throws {
        let recorder = HARRecorder(limit: 2)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .text("x") }
            $0.observers = [recorder]
        }
        for number in 0..<3 { try await service.request(.get("items/\(number)")) }
        #expect(recorder.archive.log.entries.map { $0.request.url.suffix(1) } == ["1", "2"])
        recorder.clear()
        #expect(recorder.archive.log.entries.isEmpty)
    }

    @Test("The recorder drops the oldest entries if their texts have more than 64 MiB, whatever the limit of entries")
    func size() async throws {
        let text = String(repeating: "x", count: 15 << 20)
        let recorder = HARRecorder(redaction: .revealed)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .text(text) }
            $0.observers = [recorder]
        }
        for number in 0..<5 { _ = try await service.request(.get("items/\(number)"), as: .data) }
        #expect(recorder.archive.log.entries.map { $0.request.url.suffix(1) } == ["1", "2", "3", "4"])
    }

    @Test("Of a query, 1,000 items are recorded one by one; the URL has all of them")
    func items() async throws {
        let recorder = HARRecorder(redaction: .revealed)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .text("x") }
            $0.observers = [recorder]
        }
        let items = (0..<1_001).map { URLQuery.Item("n\($0)", "") }
        try await service.request(.get("a").query(URLQuery(items)))
        let request = try #require(recorder.archive.log.entries.first?.request)
        #expect(request.queryString?.count == 1_000 && request.queryString?.last?.name == "n999")
        #expect(request.url.contains("n1000"))
    }

    @Test("An archive that a browser has written can be read and replayed")
    func browser() async throws {
        let text = """
            {"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": [], "entries": [{
              "_initiator": {"type": "script"}, "startedDateTime": "2026-11-21T10:00:00.000Z", "time": 12.5, "cache": {},
              "request": {"method": "POST", "url": "https://api.example.com/v1/users", "httpVersion": "http/2.0", "headers": [],
                "queryString": [], "cookies": [{"name": "a", "value": "b", "httpOnly": true}], "headersSize": -1, "bodySize": 14,
                "postData": {"mimeType": "application/json", "text": "{\\"a\\":1,\\"b\\":2}"}},
              "response": {"status": 200, "statusText": "", "httpVersion": "http/2.0", "headers": [], "cookies": [],
                "content": {"size": 3, "mimeType": "text/plain", "text": "yes"}, "redirectURL": "", "headersSize": -1,
                "bodySize": 3, "_transferSize": 9},
              "timings": {"send": 1, "wait": 10, "receive": 1.5, "_blocked_queueing": 0}}]}}
            """
        let replay = ReplayTransport(try HARArchive(data: Data(text.utf8)))
        let service = NetworkService(environment: Fixture.environment) { $0.transport = replay }
        #expect(try await service.request(.post("users").body(.json(["b": 2, "a": 1]))) as String == "yes")
    }
}

/// Checks a file against HAR 1.2: the required members, their types, and the values of numbers.
enum HARChecker {
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private enum Shape: Sendable {
        case string, number, object([String: Shape], optional: [String: Shape] = [:])
        indirect case array(Shape)
    }

    private static let pair = Shape.object(["name": .string, "value": .string], optional: ["comment": .string])
    private static let message: [String: Shape] = [
        "httpVersion": .string, "cookies": .array(pair), "headers": .array(pair), "headersSize": .number,
        "bodySize": .number,
    ]
    private static let entry = Shape.object(
        [
            "startedDateTime": .string, "time": .number, "cache": .object([:]),
            "request": .object(
                message.merging(["method": .string, "url": .string, "queryString": .array(pair)]) { $1 },
                optional: [
                    "postData": .object(["mimeType": .string, "text": .string, "params": .array(pair)]),
                    "comment": .string,
                ]),
            "response": .object(
                message.merging([
                    "status": .number, "statusText": .string, "redirectURL": .string,
                    "content": .object(
                        ["size": .number, "mimeType": .string],
                        optional: ["text": .string, "encoding": .string, "comment": .string]),
                ]) { $1 }, optional: ["comment": .string]),
            "timings": .object(
                ["send": .number, "wait": .number, "receive": .number],
                optional: ["blocked": .number, "dns": .number, "connect": .number, "ssl": .number]),
        ], optional: ["comment": .string])

    static func check(_ data: Data) throws {
        let document = try JSONDecoder().decode(JSONValue.self, from: data)
        try check(
            document,
            .object([
                "log": .object([
                    "version": .string, "creator": .object(["name": .string, "version": .string]),
                    "entries": .array(entry),
                ])
            ]), at: "")
        guard document["log"]?["version"] == "1.2" else { throw Fault(description: "version") }
        var before = ""
        for entry in document["log"]?["entries"]?.array ?? [] {
            let date = entry["startedDateTime"]?.string ?? ""
            _ = try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(date)
            guard before <= date else { throw Fault(description: "order") }
            before = date
            let timings = entry["timings"]?.object ?? [:]
            for name in ["send", "wait", "receive"]
            where timings[name]?.double ?? -1 < 0 || "\(timings[name]?.double ?? 0)" == "-0.0" {
                throw Fault(description: name)
            }
            let sum = timings.filter { $0.key != "ssl" }.values.compactMap(\.double).filter { $0 > 0 }.reduce(0, +)
            guard abs(sum - (entry["time"]?.double ?? -1)) < 0.001 else { throw Fault(description: "time") }
        }
    }

    private static func check(_ value: JSONValue, _ shape: Shape, at path: String) throws {
        switch (shape, value) {
        case (.string, .string), (.number, .int), (.number, .uint), (.number, .double): return
        case (.array(let element), .array(let values)):
            for (index, value) in values.enumerated() { try check(value, element, at: "\(path)[\(index)]") }
        case (.object(let required, let optional), .object(let members)):
            for (name, shape) in required {
                guard let member = members[name] else { throw Fault(description: "\(path).\(name) is missing") }
                try check(member, shape, at: "\(path).\(name)")
            }
            for (name, shape) in optional {
                if let member = members[name] { try check(member, shape, at: "\(path).\(name)") }
            }
            let known = Set(required.keys).union(optional.keys)
            guard members.keys.allSatisfy({ known.contains($0) || $0.hasPrefix("_") }) else {
                throw Fault(description: "\(path) has unknown members")
            }
        default: throw Fault(description: "\(path) has the wrong type")
        }
    }
}
