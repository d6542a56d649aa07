import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Marks whose order Swift must change before it compares two strings: each U+0323 goes before all U+0301.
private func marks(_ count: Int) -> String { String(repeating: "\u{301}\u{323}", count: count / 2) }

@Suite("Combining marks", .endsInTime)
struct CombiningMarksTests {
    @Test(
        "More than 256 marks in a row are too many, also as escapes, and after any number of plain bytes",
        arguments: [
            "\u{301}", "\u{323}", "\\u0301", "\\u0F73", "\u{F73}", "\u{F81}", "\u{1D165}", "\\ud834\\udd65",
        ])
    func tooMany(mark: String) {
        for before in 0...72 {
            let head = String(repeating: "a", count: before)
            func areFew(_ text: String) -> Bool { CombiningMarks.areFew(in: head + text, of: .json) }
            #expect(areFew(String(repeating: mark, count: 256) + "a"), "\(before)")
            #expect(!areFew(String(repeating: mark, count: 257) + "a"), "\(before)")
            #expect(
                areFew(String(repeating: mark, count: 200) + "a" + String(repeating: mark, count: 200)), "\(before)")
        }
    }

    @Test(
        "Texts of any length without marks have few",
        arguments: [
            "a", "\\n", "\\", "\u{1F600}", "\\ud83d\\ude00", "語", "한", "é", "e\u{301}", "\\u0041", "\\ud834", "и",
        ])
    func others(unit: String) {
        #expect(CombiningMarks.areFew(in: String(repeating: unit, count: 2_000), of: .json))
        #expect(CombiningMarks.areFew(in: String(repeating: unit, count: 2_000), of: .field))
    }

    /// A quoted-string loses its backslashes when it is read.
    @Test("Backslashes between marks do not part them: in a field they are removed, and in JSON they are an error")
    func backslashes() throws {
        let text = String(repeating: "\\\u{301}", count: 257)
        #expect(!CombiningMarks.areFew(in: text, of: .field))
        #expect(!CombiningMarks.areFew(in: text, of: .json))
        #expect(CombiningMarks.areFew(in: String(repeating: "\\\u{301}", count: 256), of: .field))
        for marks in [text, String(repeating: "\\\u{301}\\\u{323}", count: 20_000)] {
            let value = String(fieldValue: Array("<a>; rel=\"\(marks)\"; title=\"\(marks)\"".utf8))
            let headers: HTTPHeaders = ["Link": value]
            let link = try #require(headers.links.first)
            for text in link.relations + link.parameters.values { #expect(CombiningMarks.areFew(in: text)) }
        }
    }

    @Test("Bytes that are not UTF-8 have few marks, also if a mark is cut off at the end")
    func broken() {
        for tail in [[0xCC], [0xE0, 0xBD], [0xF0, 0x9D, 0x85], [0x5C], [0x5C, 0x75, 0x30], [0xFF]] as [[UInt8]] {
            let bytes = Array(marks(256).utf8) + tail
            #expect(bytes.withUnsafeBytes { CombiningMarks.areFew(in: $0, of: .json) })
            #expect(bytes.withUnsafeBytes { CombiningMarks.areFew(in: $0, of: .field) })
        }
    }

    @Test("A field value with too many marks is read as ISO 8859-1, which has none; one with few is read as UTF-8")
    func fieldValues() throws {
        for (value, isText) in [(marks(100_000), false), (marks(200), true)] {
            var reader = ResponseHeadReader(limit: 1 << 20)
            var head: ResponseHead?
            for line in ["HTTP/1.1 503 X", "Retry-After: Sun j\(value) 6", ""] {
                var line = line
                if case .head(let read) = line.withUTF8({ reader.read(UnsafeRawBufferPointer($0)) }) { head = read }
            }
            let found = try #require(head?.headers[.retryAfter])
            #expect(CombiningMarks.areFew(in: found))
            #expect(found.utf8.elementsEqual("Sun j\(value) 6".utf8) == isText)
            #expect(found.utf16.count == (isText ? "Sun j\(value) 6".utf16.count : "Sun j\(value) 6".utf8.count))
        }
    }

    private struct Film: Decodable, Sendable {
        let title: String
    }

    @Test("A JSON name with too many marks is an error that names the limit; a text with few marks is read")
    func json() async throws {
        let stub = StubTransport()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.errorMapping = .unmapped
        }
        stub.on(nil, nil, .text("{\"title\":\"\(marks(200))\",\"\(marks(200))\":1}"))
        #expect(try await service.request(.get("film"), as: .json(Film.self)).title.utf8.count == 400)
        #expect(try await service.request(.get("film"), as: .json(JSONValue.self)).object?.count == 2)
        for name in [marks(60_000), String(repeating: "\\u0301\\u0323", count: 5_000)] {
            stub.on(nil, nil, .text("{\"title\":\"a\",\"\(name)\":1}"))
            let errors = [
                await Fixture.failure { _ = try await service.request(.get("film"), as: .json(Film.self)) },
                await Fixture.failure { _ = try await service.request(.get("film"), as: .json(JSONValue.self)) },
                await Fixture.failure { _ = try await service.request(.get("film"), as: .json([String: Int].self)) },
            ]
            for error in errors {
                let error = try #require(error as? NetworkError)
                #expect(error.kind == .undecodableBody)
                #expect(error.reason?.contains("more than 256 combining marks in a row") == true)
            }
        }
    }

    @Test("A text of a body with too many marks is an error: as a string, in a JSON value, in a line, in an event")
    func texts() async throws {
        let stub = StubTransport()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.errorMapping = .unmapped
        }
        func errors(_ count: Int) async throws -> [NetworkError?] {
            stub.on(nil, nil, .text(marks(count)))
            let asText = await Fixture.failure { _ = try await service.request(.get("a"), as: .string) }
            let asUTF8 = await Fixture.failure {
                _ = try await service.request(.get("a"), as: .string(encoding: .utf8))
            }
            let asLines = await Fixture.failure {
                for try await _ in try await service.request(.get("a"), as: .lines) {}
            }
            stub.on(nil, nil, .text("[\"\(marks(count))\"]"))
            let asValue = await Fixture.failure { _ = try await service.request(.get("a"), as: .json(JSONValue.self)) }
            let event = Data("event: \(marks(count))\ndata: x\n\n".utf8)
            stub.on(nil, nil, StubResponse(.ok, headers: [.contentType: "text/event-stream"], body: event))
            let asEvents = await Fixture.failure {
                for try await _ in try await service.request(.get("a"), as: .serverSentEvents) {}
            }
            return [asText, asUTF8, asLines, asValue, asEvents].map { $0 as? NetworkError }
        }
        #expect(try await errors(256).allSatisfy { $0 == nil })
        for error in try await errors(10_000) {
            #expect(error?.kind == .undecodableBody)
            #expect(error?.reason?.contains("more than 256 combining marks in a row") == true)
        }
    }

    @Test("A line of an event stream whose name is longer than every known name is ignored")
    func events() async throws {
        let stub = StubTransport()
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let text = "\(marks(60_000)): x\ndata\(marks(20)): x\ndata: y\n\n"
        stub.on(nil, nil, StubResponse(.ok, headers: [.contentType: "text/event-stream"], body: Data(text.utf8)))
        var events: [String] = []
        for try await event in try await service.request(.get("events"), as: .serverSentEvents) {
            events.append(event.data)
        }
        #expect(events == ["y"])
    }
}
