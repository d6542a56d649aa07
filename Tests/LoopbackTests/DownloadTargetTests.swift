import Foundation
import NetworkingTesting
import Testing

@testable import Networking

extension Loopback {
    /// Tests of download targets that cannot be written.
    @Suite("Download targets")
    struct DownloadTargetTests {
        private let scratch = try? Scratch()
        private let server = try? LoopbackServer { _ in
            LoopbackResponse(content: .fixed(Data(repeating: 1, count: 1 << 20)))
        }

        private func download(to destination: FileDestination) async throws -> NetworkError {
            let server = try #require(server)
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url))
            do {
                _ = try await service.request(.get("file"), as: .file(destination))
                throw NetworkError(.unknown, reason: "the download succeeded")
            } catch let error as NetworkError { return error }
        }

        @Test(
            "If the target is a folder, the download fails before sending, and the folder remains",
            arguments: [true, false])
        func folder(replaces: Bool) async throws {
            let target = try #require(scratch).file("folder")
            try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
            let error = try await download(to: FileDestination(target, overwriting: replaces ? .replace : .fail))
            #expect(error.kind == .fileNotWritable)
            #expect((error.underlying as? POSIXError)?.code == .EISDIR)
            #expect(server?.requestCount == 0)
            #expect(FileManager.default.fileExists(atPath: target.path))
        }

        @Test("If the folder of the target is missing or is a file, the download fails before sending")
        func missingFolder() async throws {
            let scratch = try #require(scratch)
            try Data("text".utf8).write(to: scratch.file("file"))
            for path in ["missing/file", "file/file"] {
                let error = try await download(to: FileDestination(scratch.file(path)))
                #expect(error.kind == .fileNotWritable, "\(error)")
            }
            #expect(server?.requestCount == 0)
        }

        @Test(
            "If the disk is full, the download fails, the old file is unchanged, and no other file is left",
            .enabled(if: SmallDisk.isAllowed, "this machine allows no mounts"), arguments: [false, true])
        func fullDisk(resumes: Bool) async throws {
            let scratch = try #require(scratch)
            let disk = try #require(SmallDisk(at: scratch.file("disk")))
            let target = disk.url.appendingPathComponent("file")
            try Data("old".utf8).write(to: target)
            let error = try await download(
                to: FileDestination(target, overwriting: .replace, resuming: resumes ? .sameAddress : .never))
            #expect(error.kind == .fileNotWritable)
            #expect((error.underlying as? POSIXError)?.code == .ENOSPC)
            #expect(try Data(contentsOf: target) == Data("old".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path) == ["file"])
        }

        @Test(
            "Every name that the file system allows can be the target; a longer one is refused before anything is sent")
        func longNames() async throws {
            let (scratch, server) = (try #require(scratch), try LoopbackServer { _ in .text("text") })
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url))
            for name in [String(repeating: "她", count: 83) + ".mp4", String(repeating: "a", count: 255)] {
                let target = scratch.file(name)
                for resuming in [FileDestination.ResumeRule.never, .sameAddress] {
                    let destination = FileDestination(target, overwriting: .uniqueName, resuming: resuming)
                    let url = try await service.request(Film(), as: .file(destination))
                    #expect(try Data(contentsOf: url) == Data("text".utf8))
                }
            }
            let tooLong = FileDestination(scratch.file(String(repeating: "a", count: 256)))
            let error = await #expect(throws: NetworkError.self) {
                _ = try await service.request(Film(), as: .file(tooLong))
            }
            #expect(error?.kind == .fileNotWritable && server.requestCount == 4)
        }

        @Test("If a file would exceed the size limit of the process, writing fails, and no signal is sent")
        func sizeLimit() throws {
            let url = try #require(scratch).file("part")
            let file = try PartFile(url, isLocked: false, largestSize: 10) { code in
                NetworkError(.fileNotWritable, underlying: POSIXErrorCode(rawValue: code).map { POSIXError($0) })
            }
            try file.append(Data(count: 10))
            let error = #expect(throws: NetworkError.self) { try file.append(Data(count: 1)) }
            #expect((error?.underlying as? POSIXError)?.code == .EFBIG)
            #expect(file.size == 10)
        }
    }
}
