import Foundation
import Testing

@testable import Networking

@Suite("The owner of files", .endsInTime)
struct CacheOwnerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("A cache creates its directory for its owner only")
    func created() throws {
        let directory = folder.url.appendingPathComponent("a/b")
        _ = try ResponseCache(directory: directory)
        #expect(try mode(directory.path) == 0o700)
    }

    @Test("Caches that create the same directory at the same time all use it")
    func createdTogether() {
        let failures = Box(0)
        for round in 0..<50 {
            let directory = folder.url.appendingPathComponent("\(round)")
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                if (try? ResponseCache(directory: directory)) == nil { failures.change { $0 += 1 } }
            }
        }
        #expect(failures.value == 0)
    }

    @Test(
        "A cache neither uses nor changes an existing directory that others can use", arguments: [0o755, 0o770, 0o701])
    func shared(permissions: Int) throws {
        let directory = folder.url.appendingPathComponent("shared")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: directory.path)
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: directory)
        for url in [directory, link] {
            let error = #expect(throws: NetworkError.self) { try ResponseCache(directory: url) }
            #expect(error?.kind == .fileNotWritable)
            let octal = String(permissions, radix: 8)
            #expect(
                error?.reason?.hasSuffix("has the permissions \(octal), so other users can use it; expected 700")
                    == true)
        }
        #expect(try mode(directory.path) == permissions)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }

    @Test(
        "A cache does not use a directory of another user, nor a link of another user",
        .enabled(if: geteuid() == 0, "only the administrator can give files away"))
    func owned() throws {
        let (own, other) = (folder.url.appendingPathComponent("own"), folder.url.appendingPathComponent("other"))
        for directory in [own, other] {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: own)
        _ = try ResponseCache(directory: link)
        try #require(chown(other.path, 65_534, 65_534) == 0 && lchown(link.path, 65_534, 65_534) == 0)
        for url in [other, link] {
            let error = #expect(throws: NetworkError.self) { try ResponseCache(directory: url) }
            #expect(error?.reason?.hasSuffix("belongs to the user 65534; expected the user 0") == true)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == [])
    }

    @Test("A file behind a symbolic link is sent; a folder, a missing file and a dangling link are errors")
    func links() throws {
        let file = folder.url.appendingPathComponent("file")
        try Data("seven b".utf8).write(to: file)
        let (link, dangling) = (
            folder.url.appendingPathComponent("link"), folder.url.appendingPathComponent("dangling")
        )
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        try FileManager.default.createSymbolicLink(
            at: dangling, withDestinationURL: folder.url.appendingPathComponent("no"))
        #expect(try HTTPBody.fileLength(link) == 7)
        let faults = [
            (folder.url, "cannot be read"), (dangling, "does not exist"),
            (link.appendingPathComponent("x"), "does not exist"),
        ]
        for (url, fault) in faults {
            let error = #expect(throws: NetworkError.self) { try HTTPBody.fileLength(url) }
            #expect(error?.reason?.hasSuffix("the file \(url.lastPathComponent) \(fault)") == true)
        }
    }
}
