import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Resumed downloads")
    struct ResumeTests: FilmDownloads {
        let films: FilmServer

        init() throws { films = try FilmServer() }

        @Test("A retry resumes where the connection was lost, on every engine", .row("L8"), arguments: Engine.allCases)
        func retry(engine: Engine) async throws {
            shelf.change { $0.cuts = [200_000, 100_000] }
            let url = try await service(engine, retries: 2).request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            #expect(names == ["film.mp4"])
            #expect(shelf.value.ranges == [nil, "bytes=200000-", "bytes=300000-"])
        }

        @Test(
            "A body whose coding the engine does not know is resumed, because its bytes are those of the file",
            arguments: ["identity", "UTF-8", "aws-chunked"])
        func unknownCoding(coding: String) async throws {
            server.route(nil, "/coded") { [content, shelf] request in
                let isFirst = shelf.change { shelf in
                    defer { shelf.ranges.append(request.headers[.range]) }
                    return shelf.ranges.isEmpty
                }
                var response = LoopbackResponse.content(content, tag: "\"v1\"", for: request)
                response.headers[.contentEncoding] = coding
                return isFirst ? response.failing(.truncate(after: 200_000)) : response
            }
            let fractions = Box<[Double]>([])
            let task = try service(retries: 1).task(Film(path: "coded"), as: .file(destination))
            task.onProgress(on: DispatchQueue(label: "progress")) { progress in
                fractions.change { $0.append(progress.download.fraction ?? -1) }
            }
            #expect(try Data(contentsOf: await task.value) == content)
            #expect(shelf.value.ranges == [nil, "bytes=200000-"])
            #expect(!fractions.value.contains(-1))
        }

        @Test("A later call resumes the part that an earlier call left; the target does not exist before completion")
        func laterCall() async throws {
            try await cut(after: 123_456)
            #expect(names == [".film.mp4.part", ".film.mp4.resume"])
            #expect(destination.partialSize == 123_456)
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            #expect(shelf.value.ranges == [nil, "bytes=123456-"])
            #expect(names == ["film.mp4"])
            #expect(destination.partialSize == 0)
        }

        @Test("If a part is too long or its resume data is invalid, the download starts again from zero")
        func broken() async throws {
            try await cut(after: 100_000)
            try (content + content).write(to: scratch.file(".film.mp4.part"))
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            try FileManager.default.removeItem(at: target)
            try await cut(after: 100_000)
            try Data("{".utf8).write(to: scratch.file(".film.mp4.resume"))
            _ = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
        }

        @Test("A file that a process was writing when it was terminated is removed by the next download")
        func terminatedProcess() async throws {
            try Data("{".utf8).write(to: scratch.file(".film.mp4.new"))
            _ = try await service().request(Film(), as: .file(destination))
            #expect(names == ["film.mp4"])
        }

        @Test("Of a part file with a second hard link, neither the bytes nor the permissions change")
        func linkedPart() async throws {
            try await cut(after: 100_000)
            let other = scratch.file("other.mp4")
            try FileManager.default.linkItem(at: scratch.file(".film.mp4.part"), to: other)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: other.path)
            #expect(destination.partialSize == 0)
            _ = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: other) == content.prefix(100_000))
            #expect(try mode(of: "other.mp4") == 0o644)
            #expect(try Data(contentsOf: target) == content)
        }

        @Test("Only their owner may read the part and its description")
        func privateFiles() async throws {
            try await cut(after: 100_000)
            #expect(try mode(of: ".film.mp4.part") == 0o600)
            #expect(try mode(of: ".film.mp4.resume") == 0o600)
        }

        private func mode(of name: String) throws -> Int? {
            let attributes = try FileManager.default.attributesOfItem(atPath: scratch.file(name).path)
            return (attributes[.posixPermissions] as? NSNumber)?.intValue
        }

        @Test("An error response leaves the part for a later call")
        func errorBetween() async throws {
            try await cut(after: 100_000)
            server.route(nil, "/film") { _ in .text("sorry", status: .serviceUnavailable) }
            await #expect(throws: NetworkError.self) {
                _ = try await service().request(Film(), as: .file(destination))
            }
            #expect(destination.partialSize == 100_000)
        }

        @Test("A checksum is verified over the whole content; a mismatch leaves no file")
        func checksum() async throws {
            let digits = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  // FIPS 180-2, of "abc"
            let sum = try FileDestination.Checksum(hexadecimal: digits)
            #expect(sum.description == digits)
            shelf.change { $0.content = Data("abc".utf8) }
            let right = FileDestination(target, resuming: .sameAddress, checksum: sum)
            try await cut(after: 2, to: right)
            let url = try await service().request(Film(), as: .file(right))
            #expect(try Data(contentsOf: url) == Data("abc".utf8))
            let wrong = FileDestination(
                scratch.file("wrong"), resuming: .sameAddress,
                checksum: try FileDestination.Checksum(Data(repeating: 1, count: 32)))
            do {
                _ = try await service().request(Film(), as: .file(wrong))
                #expect(Bool(false), "the download was accepted")
            } catch let error as NetworkError {
                #expect(error.kind == .checksumMismatch)
            }
            #expect(names == ["film.mp4"])
            #expect(throws: NetworkError.self) { try FileDestination.Checksum(hexadecimal: "zz") }
        }

        @Test(
            "In 200 rounds with random interruptions and changes of the content, every file is correct"
        )
        func cuts() async throws {
            var random = SeededGenerator(seed: 11)
            let small = content.prefix(60_000)
            let service = try service()
            for round in 0..<200 {
                let version = Data(small.map { $0 &+ UInt8(truncatingIfNeeded: round / 7) })
                let cuts = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    Int.random(in: 0..<12_000, using: &random)
                }
                shelf.change { ($0.content, $0.tag, $0.cuts) = (version, "\"\(round / 7)\"", cuts) }
                let destination = FileDestination(
                    scratch.file("\(round / 3)"), overwriting: .replace, resuming: .sameAddress)
                try? FileManager.default.removeItem(at: destination.url)
                for _ in cuts {
                    await #expect(throws: NetworkError.self) {
                        _ = try await service.request(Film(), as: .file(destination))
                    }
                    #expect(!FileManager.default.fileExists(atPath: destination.url.path))
                    // Every tenth download is not completed. The next round may find the part of this download,
                    // although the content may have changed.
                    if round % 10 == 9 { break }
                }
                guard round % 10 != 9 else { continue }
                let url = try await service.request(Film(), as: .file(destination))
                #expect(try Data(contentsOf: url) == version)
            }
        }

        @Test("A server that sends at most 10,000 bytes for each range costs no retry")
        func cappedParts() async throws {
            try await cut(after: 40_000)
            let (content, ranges) = (Data(self.content.prefix(100_000)), Box<[String]>([]))
            server.route(nil, "/film") { request in
                let range = request.headers[.range] ?? ""
                ranges.change { $0.append(range) }
                let start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
                let end = min(start + 10_000, content.count)
                return LoopbackResponse(
                    .partialContent,
                    headers: [
                        .eTag: "\"v1\"", .contentRange: "bytes \(start)-\(end - 1)/\(content.count)",
                    ], body: content[start..<end])
            }
            shelf.change { $0.content = content }
            try Data(content.prefix(40_000)).write(to: scratch.file(".film.mp4.part"))
            let note = scratch.file(".film.mp4.resume")
            let text = try String(contentsOf: note, encoding: .utf8)
            try text.replacingOccurrences(of: "600000", with: "100000").write(
                to: note, atomically: false, encoding: .utf8)
            let url = try await service().request(Film(), as: .file(destination))
            #expect(try Data(contentsOf: url) == content)
            #expect(ranges.value == (4..<10).map { "bytes=\($0)0000-" })
        }

        @Test("A part that ends at the largest number is no reason to end the process")
        func largestPart() async throws {
            try await cut(after: 100)
            server.route(nil, "/film") { _ in
                LoopbackResponse(
                    .partialContent,
                    headers: [.eTag: "\"v1\"", .contentRange: "bytes 100-9223372036854775807/*"], body: Data(count: 10))
            }
            let note = scratch.file(".film.mp4.resume")
            let text = try String(contentsOf: note, encoding: .utf8)
            try text.replacingOccurrences(of: #","total":600000"#, with: "").replacingOccurrences(
                of: #""total":600000,"#, with: ""
            ).write(to: note, atomically: false, encoding: .utf8)
            _ = try? await service().request(Film(), as: .file(destination))
            #expect(server.requestCount == 2)
        }

        @Test("A resumable download with POST, or with an existing target, is rejected before sending")
        func refused() async throws {
            do {
                _ = try await service().request(Film(method: .post), as: .file(destination))
                #expect(Bool(false), "the request was sent")
            } catch let error as NetworkError {
                #expect(error.description.contains("download: only a GET"))
            }
            try Data().write(to: target)
            await #expect(throws: NetworkError.self) {
                _ = try await service().request(Film(), as: .file(destination))
            }
            #expect(server.requestCount == 0)
        }
    }
}
