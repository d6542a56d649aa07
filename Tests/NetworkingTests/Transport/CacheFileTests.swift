import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Files of a cache on disk", .endsInTime)
struct CacheFileTests {
    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let stub = StubTransport()
    private let cache: ResponseCache
    private let transport: CachingTransport

    init() throws {
        folder = try TemporaryFolder()
        cache = try ResponseCache(directory: folder.url, clock: clock.networkClock)
        transport = CachingTransport(base: stub, cache: cache)
    }

    private func get(_ path: String, _ headers: HTTPHeaders = []) async throws -> HTTPResponse {
        let url = try #require(URL(string: "https://api.example.com/\(path)"))
        return try await transport.send(
            HTTPRequest(.get, url, headers: headers), delivering: .buffered(limit: 1 << 24))
    }

    /// The one file of a response.
    private func file() throws -> (path: String, bytes: Data) {
        let files = folder.files.filter { $0.key != "removals" }
        let only = try #require(files.first)
        try #require(files.count == 1, "\(files.keys)")
        return (folder.url.appendingPathComponent(only.key).path, only.value)
    }

    @Test("A person can read a file: URL, times, fields and body are text")
    func text() async throws {
        stub.on(
            nil, nil,
            StubResponse(
                .ok, headers: [.cacheControl: "max-age=60", .vary: "Accept-Language"], body: Data("[1]\n".utf8)))
        _ = try await get("films?page=2#top", [.acceptLanguage: "de"])
        let (path, bytes) = try file()
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let time = clock.date.timeIntervalSince1970
        #expect(lines[0].hasPrefix("networking-cache 1 ") && lines[0].count == 35)
        #expect(
            lines.dropFirst() == [
                "https://api.example.com:443/films?page=2", "\(time) \(time)", "Accept-Language: de", "", "200",
                "Cache-Control: max-age=60", "Vary: Accept-Language", "Date: \(HTTPDate(clock.date))", "", "[1]", "",
            ])
        #expect(path.contains("/api.example.com-"))
    }

    @Test("Only the owner can read the directory and its files")
    func permissions() async throws {
        let inner = folder.url.appendingPathComponent("new/cache")
        let cache = try ResponseCache(directory: inner, clock: clock.networkClock)
        stub.on(nil, nil, StubResponse(.ok, headers: [.cacheControl: "max-age=60"]))
        let url = try #require(URL(string: "https://api.example.com/a"))
        _ = try await CachingTransport(base: stub, cache: cache).send(
            HTTPRequest(.get, url), delivering: .buffered(limit: 1_000))
        let paths = try FileManager.default.subpathsOfDirectory(atPath: inner.path)
        #expect(paths.count == 3)
        for path in paths + [""] {
            let attributes = try FileManager.default.attributesOfItem(atPath: inner.path + "/" + path)
            let mode = try #require(attributes[.posixPermissions] as? Int)
            #expect(mode & 0o077 == 0, "\(path): \(String(mode, radix: 8))")
        }
    }

    @Test("A file that was cut off or changed at any byte is not used, and the next response replaces it")
    func damage() async throws {
        let body = "a body with some bytes"
        stub.on(nil, nil, StubResponse(.ok, headers: [.cacheControl: "max-age=60"], body: Data(body.utf8)))
        let whole = try await get("a")
        let (path, bytes) = try file()
        let request = whole.request
        var damaged: [Data] = (0..<bytes.count).map { bytes.prefix($0) } + [bytes + Data([0])]
        for index in bytes.indices {
            for change: UInt8 in [1, 0x80, 0xFF] {
                var copy = bytes
                copy[index] ^= change
                damaged.append(copy)
            }
        }
        damaged += [Data(count: bytes.count), Data(count: 1 << 20), bytes + bytes]
        for copy in damaged {
            try copy.write(to: URL(fileURLWithPath: path))
            guard let found = cache.response(to: request) else { continue }
            // A hexadecimal digit of the checksum may be written in upper case.
            #expect(found.body.bytes(0..<found.body.count) == Data(body.utf8) && copy.count == bytes.count)
            #expect(copy.dropFirst(36) == bytes.dropFirst(36))
        }
        try bytes.prefix(100).write(to: URL(fileURLWithPath: path))
        let before = stub.requests.count
        #expect(try await get("a").source == .network)
        #expect(try await get("a").source == .cache)
        #expect(stub.requests.count == before + 1)
        _ = try file()
    }

    @Test("A large file that was changed after its first bytes is not used")
    func largeDamage() async throws {
        let body = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        stub.on(nil, nil, StubResponse(.ok, headers: [.cacheControl: "max-age=60"], body: body))
        _ = try await get("a")
        #expect(try await get("a").data == body)
        #expect(stub.requests.count == 1)
        let (path, bytes) = try file()
        var copy = bytes
        copy[bytes.count - 5] ^= 1
        try copy.write(to: URL(fileURLWithPath: path))
        #expect(try await get("a").data == body)
        #expect(stub.requests.count == 2)
    }

    @Test("A response whose fields cannot be written as lines is not stored, but its call succeeds")
    func oddFields() async throws {
        let long = String(repeating: "x", count: 200_000)
        let fields: [HTTPHeaders] = [
            ["X-Odd": "one\ntwo"], ["X\nOdd": "one"], ["X:Odd": "one"], ["X-Long": long],
        ]
        for odd in fields {
            stub.on(nil, nil, StubResponse(.ok, headers: odd.merging([.cacheControl: "max-age=60"])))
            #expect(try await get("a").status == .ok)
            #expect(cache.count == 0)
        }
        let fine: HTTPHeaders = [
            "X-Empty": "", "X-Blank": " a ", "": "b", "X-Return": "a\rb", "X-Text": "grün: 🦊",
            .date: HTTPDate(clock.date).description,
        ]
        stub.on(nil, nil, StubResponse(.ok, headers: fine.merging([.cacheControl: "max-age=60"])))
        let sent = try await get("a")
        var stored = try await get("a")
        #expect(stored.source == .cache)
        stored.headers.remove(.age)
        #expect(stored.headers == sent.headers)
    }

    @Test("If files cannot be written or the directory is removed, calls succeed")
    func unwritable() async throws {
        stub.on(nil, nil, StubResponse(.ok, headers: [.cacheControl: "max-age=60"]))
        try FileManager.default.removeItem(at: folder.url)
        for _ in 0..<2 { #expect(try await get("a").source == .network) }
        cache.removeAll()
        #expect(cache.count == 0)
    }

    @Test("A directory that cannot be created causes a `CocoaError`")
    func noDirectory() throws {
        let file = folder.url.appendingPathComponent("file")
        try Data().write(to: file)
        for url in [file, file.appendingPathComponent("inner"), URL(string: "https://example.com/x")] {
            #expect(throws: CocoaError.self) { try ResponseCache(directory: try #require(url)) }
        }
    }

    @Test("Only files of the cache are removed")
    func strangers() async throws {
        stub.on(nil, nil, StubResponse(.ok, headers: [.cacheControl: "max-age=60"]))
        _ = try await get("a")
        let path = try file().path
        let strange = ["notes.txt", "folder-0123456789abcdef/notes.txt", "photos/01234567890123456789"]
        for name in strange {
            let url = folder.url.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: url)
        }
        cache.removeAll()
        #expect(!FileManager.default.fileExists(atPath: path))
        for name in strange { #expect(folder.files[name] == Data("mine".utf8), "\(name)") }
    }

    @Test("The checksum depends on each byte, not on the pieces in which the bytes are read")
    func checksum() {
        var random = SeededGenerator(seed: 7)
        for count in [0, 1, 7, 8, 9, 63, 200] {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            func checksum(_ pieces: [ArraySlice<UInt8>]) -> UInt64 {
                var checksum = Checksum()
                for piece in pieces { piece.withUnsafeBytes { checksum.update($0) } }
                return checksum.value
            }
            let expected = checksum([bytes[...]])
            for cut in 0...count { #expect(checksum([bytes[..<cut], bytes[cut...]]) == expected) }
            var single = Checksum()
            single.update(bytes)
            #expect(single.value == expected)
            #expect(checksum([bytes[...], [0]]) != expected, "a zero at the end counts")
            for index in 0..<count {
                var other = bytes
                other[index] ^= 1
                #expect(checksum([other[...]]) != expected)
            }
        }
    }
}
