import Foundation
import NetworkingTesting
import Testing

@testable import Networking

// Files that somebody else has made.
extension FileLeaseTests {
    @Test("A symbolic link, a hard link, or a file that is not regular is not used as a lease file")
    func foreignLease() throws {
        let lease = lease(Disk(), on: clock)
        let target = folder.appendingPathComponent("target")
        try Data("text".utf8).write(to: target)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target.path)
        #expect(throws: CocoaError.self) { try lease.locked { _ in } }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.linkItem(atPath: target.path, toPath: path)
        #expect(throws: CocoaError.self) { try lease.locked { _ in } }
        try FileManager.default.removeItem(atPath: path)
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: CocoaError.self) { try lease.locked { _ in } }
        #expect(try Data(contentsOf: target) == Data("text".utf8))
    }

    @Test(
        "No file is created through a symbolic link in the place of the lease file or of its lock",
        arguments: ["", ".lock"])
    func foreignLock(ending: String) async throws {
        let target = folder.appendingPathComponent("target").path
        try FileManager.default.createSymbolicLink(atPath: path + ending, withDestinationPath: target)
        let lease = lease(Disk(ENOSPC), on: clock)
        await #expect(throws: CocoaError.self) { try await lease.hold(ExclusiveOperation {}) }
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test("A lease file that others can access is restricted to its owner; one of another owner is not used")
    func owner() throws {
        let lease = lease(Disk(), on: clock)
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(chmod(path, 0o666) == 0)
        try lease.locked { _ in }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        guard geteuid() == 0 else { return }  // only root can change the owner
        #expect(chown(path, 65_534, 65_534) == 0)
        #expect(throws: CocoaError.self) { try lease.locked { _ in } }
    }

    @Test("The token is never written into a file that existed before, or through a symbolic link")
    func temporaryFile() throws {
        let file = folder.appendingPathComponent("token.json")
        let store = AccessTokenFile(file, clock: clock.networkClock)
        let new = file.path + ".new"
        #expect(FileManager.default.createFile(atPath: new, contents: nil))
        #expect(chmod(new, 0o666) == 0)
        let open = try FileHandle(forReadingFrom: URL(fileURLWithPath: new))  // by another user
        #expect(try store.save(AccessToken("secret"), replacing: nil))
        #expect(try open.readToEnd()?.isEmpty ?? true)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        let target = folder.appendingPathComponent("target").path
        try FileManager.default.createSymbolicLink(atPath: new, withDestinationPath: target)
        #expect(try store.save(AccessToken("b"), replacing: AccessToken("secret")))
        #expect(!FileManager.default.fileExists(atPath: target))
        #expect(try store.load() == AccessToken("b"))
    }
}
