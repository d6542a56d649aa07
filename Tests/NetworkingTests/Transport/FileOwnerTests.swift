import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Files that somebody else has made", .endsInTime)
struct FileOwnerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func file(_ name: String) -> URL { folder.url.appendingPathComponent(name) }

    private func part() throws -> PartFile {
        try PartFile(file("part"), isLocked: true) { NetworkError(.fileNotWritable, reason: "\($0)") }
    }

    @Test("A pipe in place of the part or the note of a download is an error, and nothing waits for it")
    func pipes() throws {
        for name in ["part", ".film.resume"] { try #require(mkfifo(file(name).path, 0o600) == 0) }
        let error = #expect(throws: NetworkError.self) { try part() }
        #expect(error?.reason == "the file part exists already, and is not a regular file of this user")
        #expect(FileDestination(file("film")).partialSize == 0)
    }

    @Test("Nobody else can open a part, and so lock it; the complete file has the permissions of a new file")
    func privateParts() async throws {
        func mode(_ url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        }
        try Data().write(to: file("new"))
        try Data().write(to: file("part"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file("part").path)
        let part = try part()
        #expect(try mode(file("part")) == 0o600, "also if an earlier version of the library has left it")
        part.publish()
        #expect(try mode(file("part")) == mode(file("new")))
        let stub = StubTransport()
        stub.on(nil, nil, .text("a film"))
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        _ = try await service.request(.get("film"), as: .file(at: file("film")))
        #expect(try mode(file("film")) == mode(file("new")))
    }

    @Test(
        "The part and the note of another user are not used",
        .enabled(if: geteuid() == 0, "only the administrator can give files away"))
    func strangers() throws {
        let note = #"{"content":"a","validator":"\"b\"","total":9}"#
        for (name, text) in [("part", "abc"), (".film.part", "abc"), (".film.resume", note)] {
            try Data(text.utf8).write(to: file(name))
        }
        #expect(FileDestination(file("film")).partialSize == 3)
        #expect(try part().size == 3)
        for name in ["part", ".film.resume"] { try #require(chown(file(name).path, 65_534, 65_534) == 0) }
        #expect(throws: NetworkError.self) { try part() }
        #expect(FileDestination(file("film")).partialSize == 0)
        #expect(try Data(contentsOf: file("part")) == Data("abc".utf8))
    }

    @Test(
        "A token file of another user, and one of more than 1 MiB, are not read",
        .enabled(if: geteuid() == 0, "only the administrator can give files away"))
    func tokens() throws {
        let token = file("token.json")
        let store = AccessTokenFile(token, clock: ManualClock().networkClock)
        try Data(#"{"value":"planted"}"#.utf8).write(to: token)
        #expect(try store.load()?.value == "planted")
        try #require(chown(token.path, 65_534, 65_534) == 0)
        #expect(throws: AccessToken.Undecodable.self) { try store.load() }
        try #require(chown(token.path, 0, 0) == 0)
        try Data(repeating: UInt8(ascii: " "), count: (1 << 20) + 1).write(to: token)
        #expect(throws: AccessToken.Undecodable.self) { try store.load() }
    }

    @Test(
        "The second file of a lease is not used if it belongs to another user, who could lock it for ever",
        .enabled(if: geteuid() == 0, "only the administrator can give files away"))
    func lease() async throws {
        let second = file("lease.lock")
        try Data().write(to: second)
        try #require(chown(second.path, 65_534, 65_534) == 0)
        let lease = FileLease(path: file("lease").path, length: .seconds(9), clock: ManualClock().networkClock)
        await #expect(throws: CocoaError.self) { try await lease.hold(ExclusiveOperation { 1 }) }
    }

    @Test(
        "A lock file of another user is an error, and nothing waits for its lock",
        .enabled(if: geteuid() == 0, "only the administrator can give files away"))
    func lock() throws {
        let lock = file("lock")
        try Data().write(to: lock)
        let held = open(lock.path, O_RDWR)
        defer { close(held) }
        try #require(flock(held, LOCK_EX) == 0 && chown(lock.path, 65_534, 65_534) == 0)
        #expect(throws: CocoaError.self) { try FileLock(path: lock.path).locked { _ in } }
    }
}
