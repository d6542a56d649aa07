import Foundation
import Networking
import NetworkingTesting
import Testing

@testable import NetworkingOutbox

@Suite("The files of an outbox", .endsInTime)
struct OutboxFileTests {
    private func entries(_ fixture: OutboxFixture) -> [URL] {
        fixture.files.filter { $0.hasSuffix(".entry") }.map { fixture.folder.url.appending(path: "outbox/\($0)") }
    }

    /// Stores entries without sending them.
    private func stored(_ texts: [(String, order: String)], in fixture: OutboxFixture) async throws {
        fixture.stub.on(.post, "/notes", StubResponse(.serviceUnavailable, headers: ["Retry-After": "3000"]))
        let outbox = try fixture.outbox()
        for (text, order) in texts { try await outbox.enqueue(NoteEndpoint.add(text), order: order) }
        await outbox.flush(within: .seconds(1))
        fixture.stub.on(.post, "/notes", StubResponse(.created))
    }

    @Test(
        "An entry that cannot be read is reported and kept, and holds back only its own order",
        arguments: [
            ("damaged", "checksum"), ("networking-outbox 2 0000000000000000\n{}", "format 2"),
            ("", "0 bytes of another format"),
            ("networking-outbox 1 zz\n{}", "checksum"),
        ])
    func damaged(_ content: String, reason: String) async throws {
        let fixture = try OutboxFixture()
        try await stored([("1", "a"), ("2", "a"), ("3", "b")], in: fixture)
        let first = try #require(entries(fixture).first)
        let bytes = try Data(contentsOf: first)
        let new = content == "damaged" ? bytes.dropLast(2) + Data("}}".utf8) : Data(content.utf8)
        try (content == "damaged" ? bytes.prefix(60) + bytes.dropFirst(61) : new).write(to: first)

        let next = try OutboxFixture(folder: fixture.folder)
        let outbox = try next.outbox()
        var changes = Changes(of: outbox)
        // An end may be published more than once.
        var ends: [UUID: Outbox.Entry.State] = [:]
        while ends.count < 2 {
            let end = try await changes.nextEnd()
            ends[end.id] = end.state
        }
        let states = Array(ends.values)
        #expect(states.contains(.sent(.created, body: Data())))
        guard case .unreadable(let found)? = states.first(where: \.needsDecision) else {
            Issue.record("found \(states)")
            return
        }
        #expect(found.contains(reason), "\(found)")
        #expect(next.texts == ["3"])
        let held = try await outbox.pending(in: "a")
        #expect(held.count == 2 && held.last?.state == .behind(held[0].id))
        #expect(try await outbox.drop(held[0].id))
        _ = try await changes.next { $0.state == .sent(.created, body: Data()) }
        #expect(next.texts == ["3", "2"])
    }

    @Test("An endpoint that the app does not know is kept for a version that knows it; an older version is upgraded")
    func versions() async throws {
        struct OldNote: Codable, Sendable { let add: [String: String] }
        let fixture = try OutboxFixture()
        try await stored([("1", "a")], in: fixture)
        let unknown = try OutboxFixture(folder: fixture.folder)
        var outbox: Outbox? = try unknown.outbox([.init(NoteEndpoint.self, name: "note", version: 2)])
        var changes = Changes(of: try #require(outbox))
        let entry = try await changes.nextEnd()
        #expect("\(entry)".contains("the name note and the version 1") && unknown.stub.requests.isEmpty)
        outbox = nil

        let known = try OutboxFixture(folder: fixture.folder)
        let upgraded = try known.outbox([
            .init(NoteEndpoint.self, name: "note", version: 2),
            .init(name: "note", version: 1) { (old: OldNote) in NoteEndpoint.add(old.add["_0"] ?? "?") },
        ])
        var others = Changes(of: upgraded)
        let end = try await known.whileTimePasses { try await others.next { $0.state.isEnd } }
        #expect(end.id == entry.id && (end.endpoint as? NoteEndpoint) == .add("1"))
    }

    @Test("A file is copied with its entry, so that the original may go; the copy goes with the entry")
    func copies() async throws {
        let fixture = try OutboxFixture()
        let file = fixture.folder.url.appending(path: "photo.jpg")
        try Data(repeating: 7, count: 200_000).write(to: file)
        fixture.stub.on(.post, "/files", StubResponse(.serviceUnavailable), StubResponse(.created))
        let outbox = try fixture.outbox()
        var changes = Changes(of: outbox)
        let entry = try await outbox.enqueue(NoteEndpoint.attach(file))
        try FileManager.default.removeItem(at: file)
        let end = try await fixture.whileTimePasses { try await changes.next { $0.state.isEnd } }
        #expect(end.state == .sent(.created, body: Data()))
        let request = try #require(fixture.stub.requests.last)
        #expect(request.body.length == 200_000 && request.allHeaders[.contentType] == "image/jpeg")
        try await outbox.acknowledge(entry.id)
        #expect(fixture.files == ["outbox.lease"])
    }

    @Test("A file that is only referenced must still exist; if not, the entry is refused")
    func references() async throws {
        let fixture = try OutboxFixture()
        let file = fixture.folder.url.appending(path: "photo.jpg")
        try Data("photo".utf8).write(to: file)
        fixture.stub.on(.post, "/files", StubResponse(.serviceUnavailable), StubResponse(.created))
        let outbox = try fixture.outbox(copiesFiles: false)
        var changes = Changes(of: outbox)
        try await outbox.enqueue(NoteEndpoint.attach(file))
        _ = try await changes.next { $0.state == .sending }
        _ = try await changes.next { $0.state == .waiting }
        #expect(fixture.files.allSatisfy { !$0.hasSuffix(".body") })
        try FileManager.default.removeItem(at: file)
        let end = try await fixture.whileTimePasses { try await changes.nextEnd() }
        #expect("\(end)".contains("photo.jpg") && end.state.needsDecision, "\(end)")
    }

    @Test("The same bytes are sent with the same key, even if the endpoint would encode others now")
    func sameBytes() async throws {
        struct Stamp: Endpoint, Codable {
            var path: EndpointPath { "stamps" }
            var method: HTTPMethod { .post }
            var body: HTTPBody { .string(UUID().uuidString) }
        }
        let fixture = try OutboxFixture()
        fixture.stub.on(.post, "/stamps", StubResponse(.serviceUnavailable), StubResponse(.created))
        let outbox = try fixture.outbox([.init(Stamp.self, name: "stamp")])
        var changes = Changes(of: outbox)
        try await outbox.enqueue(Stamp())
        _ = try await fixture.whileTimePasses { try await changes.next { $0.state.isEnd } }
        let bodies = fixture.stub.requests.map(\.body.data)
        #expect(bodies.count == 2 && bodies[0] == bodies[1] && Set(fixture.keys).count == 1)
    }

    @Test("What terminated processes have left is removed, and a folder that others can use is refused")
    func remains() async throws {
        let fixture = try OutboxFixture()
        try await stored([("1", "a")], in: fixture)
        let folder = fixture.folder.url.appending(path: "outbox")
        for name in ["x.entry.new", "\(UUID().uuidString.lowercased())-1.body", "y.part", "other.txt"] {
            try Data("x".utf8).write(to: folder.appending(path: name))
        }
        let outbox = try fixture.outbox()
        try await outbox.enqueue(NoteEndpoint.add("2"))
        #expect(fixture.files.filter { !$0.hasSuffix(".entry") } == ["other.txt", "outbox.lease"])
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        #expect(throws: NetworkError.self) { try fixture.outbox() }
    }

    @Test("Each change of an entry is seen by other processes, although the system uses the numbers of files again")
    func marks() throws {
        let scratch = try TemporaryFolder()
        let folder = try OutboxFolder(
            scratch.url.appending(path: "outbox"), lease: .seconds(9), clock: ManualClock().networkClock)
        let record = OutboxRecord(
            id: UUID(), key: "", order: nil, owner: nil, enqueued: Date(), expires: nil, asks: false,
            call: .init(name: "note", version: 1, content: Data()))
        let name = try folder.add(record).name
        var marks: Set<OutboxFolder.Mark> = []
        for number in 0..<30 {
            try folder.change(name) { $0.key = "\(number % 2)" }
            marks.insert(try #require(folder.mark(of: name)))
        }
        #expect(marks.count == 30)
    }

    @Test("What is no file stops no other entry")
    func irregular() async throws {
        let fixture = try OutboxFixture()
        try await stored([("1", "a"), ("2", "b")], in: fixture)
        let first = try #require(entries(fixture).first)
        try FileManager.default.removeItem(at: first)
        try FileManager.default.createDirectory(at: first, withIntermediateDirectories: false)
        let next = try OutboxFixture(folder: fixture.folder)
        let outbox = try next.outbox()
        var changes = Changes(of: outbox)
        _ = try await changes.next { $0.state.isEnd }
        #expect(next.texts == ["2"])
        #expect(try await outbox.pending().first.map { "\($0)" }?.contains("another kind of file") == true)
    }

    @Test("A crafted entry has no effect outside of its folder, and ends no process")
    func crafted() async throws {
        let fixture = try OutboxFixture()
        let victim = fixture.folder.url.appending(path: "victim.body")
        try Data("victim".utf8).write(to: victim)
        try await stored([("1", "a")], in: fixture)
        let file = try #require(entries(fixture).first)
        let lines = try String(decoding: Data(contentsOf: file), as: UTF8.self).split(separator: "\n", maxSplits: 1)
        let content = lines[1].replacing(/"body":\{.*?\},"call"/) { _ in
            #""body":{"file":{"name":"../victim.body","count":6,"checksum":1},"headers":[]},"expires":1e300,"call""#
        }
        try OutboxRecord.sealed(Data(content.utf8)).write(to: file)
        let next = try OutboxFixture(folder: fixture.folder)
        let outbox = try next.outbox()
        var changes = Changes(of: outbox)
        let entry = try await changes.next { $0.state.needsDecision }
        #expect(try await outbox.edit(entry.id, to: NoteEndpoint.add("2")))
        _ = try await changes.next { $0.state.isEnd }
        #expect(next.texts == ["2"] && FileManager.default.fileExists(atPath: victim.path))
    }

    @Test("If the folder vanishes, reading is an error with the path, and the next write creates it again")
    func vanishes() async throws {
        let fixture = try OutboxFixture()
        let outbox = try fixture.outbox()
        let folder = fixture.folder.url.appending(path: "outbox")
        try FileManager.default.removeItem(at: folder)
        await #expect { try await outbox.pending() } throws: { error in
            ((error as? CocoaError)?.userInfo[NSFilePathErrorKey] as? String)?.contains("outbox") == true
        }
        var changes = Changes(of: outbox)
        try await outbox.enqueue(NoteEndpoint.add("1"))
        _ = try await fixture.whileTimePasses { try await changes.next { $0.state.isEnd } }
        #expect(fixture.texts == ["1"])
    }

    @Test("An endpoint that cannot be stored is refused before anything is written")
    func refusals() async throws {
        struct Other: Endpoint, Codable { var path: EndpointPath { "other" } }
        struct Broken: Endpoint, Codable {
            var path: EndpointPath { "broken" }
            init() {}
            func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: CodingKeys.self) }
            init(from decoder: any Decoder) throws {
                _ = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
            }
            enum CodingKeys: CodingKey { case id }
        }
        let fixture = try OutboxFixture()
        let outbox = try fixture.outbox([.init(Broken.self, name: "broken")])
        for (endpoint, reason) in [(Other() as any Endpoint, "the type Other"), (Broken(), "id is missing")] {
            await #expect { try await outbox.enqueue(endpoint) } throws: { error in
                (error as? NetworkError)?.kind == .invalidRequest && "\(error)".contains(reason)
            }
        }
        #expect(fixture.files.allSatisfy { $0 == "outbox.lease" })
        #expect(throws: NetworkError.self) {
            try fixture.outbox([.init(Broken.self, name: "a"), .init(Other.self, name: "a")])
        }
    }
}
