import Foundation
import Testing

@testable import Networking

/// Rules for every source file. The script `.ci/layers` checks the layers of the library with the compiler.
@Suite("Source rules", .endsInTime)
struct SourceRulesTests {
    private struct Source {
        let file: String
        /// The folder, below the library's folder.
        let room: String
        /// The text without comments and string literals.
        let code: String
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The library's files, read once for all tests.
    private static let library = Result {
        let library = root.appendingPathComponent("Sources/Networking")
        let enumerator = try #require(FileManager.default.enumerator(at: library, includingPropertiesForKeys: nil))
        return try enumerator.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map { url in
            let text = try String(contentsOf: url, encoding: .utf8)
            let room = url.deletingLastPathComponent().path.dropFirst(library.path.count + 1)
            return Source(file: url.lastPathComponent, room: String(room), code: withoutCommentsAndTexts(text))
        }
    }

    private static func sources() throws -> [Source] { try library.get() }

    private static func withoutCommentsAndTexts(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var code = String(line)
            if let comment = code.range(of: "//") { code = String(code[..<comment.lowerBound]) }
            return code.replacing(/"(?:[^"\\(]|\\.)*"/, with: "\"\"")
        }.joined(separator: "\n")
    }

    @Test(
        "The library uses no Foundation API that is broken on Linux",
        .row("L4", "L8", "L15", "L29", "L35", "L38", "L39", "L42"),
        arguments: [
            "URLProtocol", "streamError", "httpBodyStream", "downloadTask", "uploadTask", "resumeData", "suspend",
            "URLCredential(", "AsyncThrowingStream",
        ])
    func brokenParts(name: String) throws {
        for source in try Self.sources() where !source.file.hasSuffix("+Apple.swift") {
            #expect(!source.code.contains(name), "\(source.file) uses \(name)")
        }
    }

    @Test("Each room has at most one part, and no code outside of a room writes its part")
    func partsAndRooms() throws {
        var rooms: [String: String] = [:]
        for source in try Self.sources() {
            for match in source.code.matches(of: /(?:struct|class|enum) (\w+): HTTPRequest\.(?:Part|Order)\b/) {
                let part = String(match.output.1)
                #expect(!rooms.values.contains(source.room), "\(source.room): \(part) is its second part")
                rooms[part] = source.room
            }
        }
        #expect(rooms.count == 14)
        for source in try Self.sources() {
            // Written through the subscripts: `parts[Part.self] = …`, `orders[order: Part.self].value = …`.
            let writes = /\b(?:parts|orders|self)\[(?:order: )?(\w+)\.self\](?:\.\w+)?\s*=(?!=)/
            for match in source.code.matches(of: writes) {
                let part = String(match.output.1)
                #expect(rooms[part] == source.room, "\(source.file) writes \(part): \(match.output.0)")
            }
        }
    }

    @Test("Parts are copied and dropped only where a request is created and in the three methods for its borders")
    func copiesOfParts() throws {
        for source in try Self.sources() where source.code.contains("HTTPRequest") {
            for match in source.code.matches(of: /\.?(?:parts|orders) = .*/) where match.output.hasPrefix(".") {
                let isBirth = source.file == "EndpointRequest.swift" && match.output == ".parts = settings.orders"
                #expect(source.file == "HTTPRequest+Parts.swift" || isBirth, "\(source.file): \(match.output)")
            }
        }
    }

    @Test("Every unchecked conformance states why it is safe")
    func uncheckedSaysBecause() throws {
        for target in [
            "Networking", "NetworkingInspector", "NetworkingOutbox", "NetworkingServer", "NetworkingTesting",
        ] {
            let directory = Self.root.appendingPathComponent("Sources/\(target)")
            let enumerator = try #require(
                FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil))
            for case let url as URL in enumerator where url.pathExtension == "swift" {
                for line in try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n") {
                    guard line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") else { continue }
                    guard !line.trimmingCharacters(in: .whitespaces).hasPrefix("///") else { continue }
                    #expect(line.contains("because"), "\(url.lastPathComponent): \(line)")
                }
            }
        }
    }

    @Test("Each suite that uses real sockets is in the serialized suite Loopback, in a test target of its own")
    func suitesOnSockets() throws {
        let directory = Self.root.appendingPathComponent("Tests/LoopbackTests")
        let enumerator = try #require(FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil))
        for case let url as URL in enumerator
        where url.pathExtension == "swift" && url.lastPathComponent != "Loopback.swift" {
            let text = try String(contentsOf: url, encoding: .utf8)
            #expect(!text.contains(/(?m)^@Suite/), "\(url.lastPathComponent): put the suite in `extension Loopback`")
        }
    }

    @Test("Each test has a time limit, and can fail: it states an expectation, or calls a helper of its file that does")
    func testsThatCanFail() throws {
        let states = /#expect|#require|Issue\.record|confirmation\(|expect\w*\(|\.check\(|prove\(/
        let directory = Self.root.appendingPathComponent("Tests")
        let enumerator = try #require(FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil))
        for case let url as URL in enumerator where url.pathExtension == "swift" {
            let text = try String(contentsOf: url, encoding: .utf8)
            guard text.contains("@Test") else { continue }
            let name = url.lastPathComponent
            // The suite on sockets has a time limit for all its tests. Files with a plus continue a suite. Examples must
            // be equal to the documentation.
            let isLimited = url.path.contains("LoopbackTests") || name.contains("+") || name.hasSuffix("Examples.swift")
            let hasLimit = text.contains(/(?m)^ *@Suite\((?:[^()]|\([^()]*\))*\.endsInTime/)
            #expect(isLimited || hasLimit, "\(name): add .endsInTime")
            let functions = text.matches(of: /(?ms)^( *)((?:private )?func (\w+).*?^\1\})/)
            let tests = text.split(separator: "@Test").dropFirst().compactMap {
                $0.firstMatch(of: /(?ms)^( *)func (\w+).*?^\1\}/)
            }
            let names = Set(tests.map(\.output.2))
            let helpers = functions.filter { $0.output.2.contains(states) && !names.contains($0.output.3) }
                .map(\.output.3)
            for test in tests {
                let body = test.output.0
                let calls = helpers.contains { body.contains("\($0)(") || body.contains("\($0) {") }
                #expect(body.contains(states) || calls, "\(name): \(test.output.2) states no expectation")
            }
        }
    }

    @Test("Each type that measures time gets a clock from its test, so a slow machine does not affect the result")
    func clocks() throws {
        let directory = Self.root.appendingPathComponent("Tests/NetworkingTests")
        let enumerator = try #require(FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil))
        for case let url as URL in enumerator
        where url.pathExtension == "swift" && !url.path.contains("/Documentation/") && !url.path.hasSuffix(#fileID) {
            let text = try String(contentsOf: url, encoding: .utf8)
            let calls = text.matches(
                of: /\b(?:AccessTokenSupervisor|AccessTokenFile|ReachabilityService)\(((?:[^()]|\([^()]*\))*)\)/)
            for call in calls where !call.output.1.isEmpty && !call.output.1.hasPrefix("fixed:") {
                #expect(call.output.1.contains("clock"), "\(url.lastPathComponent): \(call.output.0)")
            }
        }
    }

    /// With the upcoming feature `MemberImportVisibility`, a file that does not import a module cannot name its
    /// members.
    @Test("The rules of the explorers stand in files that do not import what they check")
    func rulesOfExplorers() throws {
        let folder = Self.root.appendingPathComponent("Sources/NetworkingProof/Explore")
        let enumerator = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var count = 0
        for case let url as URL in enumerator where url.pathExtension == "swift" {
            let (file, text) = (url.lastPathComponent, try String(contentsOf: url, encoding: .utf8))
            guard !file.contains("Rules") else {
                count += 1
                #expect(!text.contains("import Networking"), "\(file) imports what it checks")
                continue
            }
            // The tables compare in one place, which gets the expected value from their rules.
            let code = ["table.expect(", "func expect("].reduce(Self.withoutCommentsAndTexts(text)) {
                $0.replacing($1, with: "")
            }
            #expect(!code.contains(/\bexpect\(/), "\(file) states a rule")
        }
        #expect(count > 5)
    }

    @Test("The top level has exactly five visible items")
    func topLevel() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.root.path).filter { !$0.hasPrefix(".") }
        #expect(
            Set(names).subtracting(["Package.resolved"]) == [
                "Package.swift", "Sources", "Tests", "Example", "README.md",
            ])
    }

    @Test("The libraries import no package, and no library needs @testable")
    func imports() throws {
        let allowed: Set<String> = [
            "Foundation", "FoundationNetworking", "Glibc", "Musl", "Darwin", "Networking", "CLibcurl",
            "NetworkingServer",
        ]
        for target in [
            "Networking", "NetworkingInspector", "NetworkingOutbox", "NetworkingServer", "NetworkingTesting",
        ] {
            let directory = Self.root.appendingPathComponent("Sources/\(target)")
            let enumerator = try #require(
                FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil))
            for case let url as URL in enumerator where url.pathExtension == "swift" {
                let text = try String(contentsOf: url, encoding: .utf8)
                #expect(!text.contains("@testable"))
                for match in text.matches(of: /(?m)^\s*(?:public )?import (\w+)/) {
                    let module = String(match.output.1)
                    if ["CryptoKit", "Combine", "Network", "os", "Security"].contains(module),
                        url.lastPathComponent.hasSuffix("+Apple.swift")
                    {
                        continue
                    }
                    #expect(
                        allowed.contains(module), "\(url.lastPathComponent) imports \(match.output.1)")
                }
            }
        }
    }
}
