import Foundation
import Testing

@testable import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Keeps the house: which room may know which.
@Suite("Architecture")
struct ArchitectureTests {
    private static let floors: [(room: String, floor: Int)] = [
        ("Concurrency", 1), ("HTTP", 2), ("Encoding", 3), ("Transport", 3), ("Response", 4), ("Endpoint", 5),
        ("Reachability", 5), ("Observation", 6), ("Admission", 7), ("RequestAdapting", 7), ("ErrorHandling", 7),
        ("Authorization", 8), ("Service", 9),
    ]

    private struct Source {
        let room: String
        let file: String
        let code: String

        var mentions: Set<String> {
            Set(code.matches(of: /[A-Za-z_][A-Za-z0-9_]*/).map { String($0.output) })
        }

        /// The types declared at the file's top level.
        var declarations: [String] {
            code.matches(
                of:
                    /(?m)^(?:public |private |fileprivate |final |open |indirect |@\w+ )*(?:struct|class|enum|protocol|actor|typealias) (\w+)/
            )
            .map { String($0.output.1) }
        }
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The library's files, read once for all tests.
    private static let library = Result {
        let library = root.appendingPathComponent("Sources/Networking")
        let enumerator = try #require(FileManager.default.enumerator(at: library, includingPropertiesForKeys: nil))
        return try enumerator.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map { url in
            let room = url.deletingLastPathComponent().lastPathComponent
            let text = try String(contentsOf: url, encoding: .utf8)
            return Source(room: room, file: "\(room)/\(url.lastPathComponent)", code: withoutCommentsAndTexts(text))
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

    @Test("Every room is one that DESIGN.md draws, and every file stands in a room")
    func rooms() throws {
        let known = Set(Self.floors.map(\.room))
        for source in try Self.sources() { #expect(known.contains(source.room), "\(source.file) stands in no room") }
    }

    @Test("A file names only types of its own room and of rooms on lower floors")
    func floors() throws {
        let sources = try Self.sources()
        let floor = Dictionary(uniqueKeysWithValues: Self.floors.map { ($0.room, $0.floor) })
        var home: [String: String] = [:]
        for source in sources { for name in source.declarations { home[name] = source.room } }
        #expect(home.count > 80, "the declarations were not found")
        for source in sources {
            for name in source.mentions {
                guard let room = home[name], room != source.room else { continue }
                #expect(
                    floor[room, default: 0] < floor[source.room, default: 0],
                    "\(source.file) names \(name) of the room \(room)")
            }
        }
    }

    @Test("Service does not know Authorization, but for one convenience")
    func serviceDoesNotKnowAuthorization() throws {
        let sources = try Self.sources()
        let tokens = Set(sources.filter { $0.room == "Authorization" }.flatMap(\.declarations))
        let knowing = sources.filter { $0.room == "Service" && !tokens.isDisjoint(with: $0.mentions) }.map(\.file)
        #expect(knowing == ["Service/NetworkService+Authorization.swift"])
    }

    @Test(
        "L4, L8, L15, L29, L35, L38, L39, L42: the library uses none of what breaks in Foundation on Linux",
        arguments: [
            "URLProtocol", "InputStream", "streamError", "downloadTask", "uploadTask", "resumeData", "suspend",
            "URLCredential(", "AsyncThrowingStream",
        ])
    func brokenParts(name: String) throws {
        for source in try Self.sources() where !source.file.hasSuffix("+Apple.swift") {
            #expect(!source.code.contains(name), "\(source.file) uses \(name)")
        }
    }

    @Test("L5, L43: the sessions that the library makes have neither cache, cookies nor stored credentials")
    func withoutPolicy() {
        let configuration = URLSessionConfiguration.withoutPolicy
        #expect(configuration.urlCache == nil)
        #expect(configuration.httpCookieStorage == nil)
        #expect(configuration.urlCredentialStorage == nil)
        #expect(!configuration.httpShouldSetCookies)
    }

    #if os(Linux)
        @Test("Where libcurl cannot be had, URLSession carries requests")
        func withoutLibcurl() {
            #expect(PlatformTransport.choose(nil) is URLSessionTransport)
        }

        @Test("A libcurl that looks names up on its own thread is not taken: one slow name would hold up every call")
        func blockingLibcurl() {
            #expect(throws: CurlLibrary.Fault.blocking) {
                _ = try CurlLibrary(version: "libcurl/8.0.0", features: [.tls, .http2]).checked()
            }
        }

        @Test("What this system's libcurl was built without is told by the part of the configuration that wants it")
        func missingFeature() throws {
            let proxy = try #require(URL(string: "https://proxy.example"))
            let wanting = [
                "addressFamily": CurlConfiguration(addressFamily: .v6),
                "unixSocketPath": CurlConfiguration(unixSocketPath: "/run/x"),
                "proxy": CurlConfiguration(proxy: .url(proxy)),
                "tls": CurlConfiguration(tls: TLSConfiguration(minimumVersion: .v1_3)),
            ]
            for (part, configuration) in wanting {
                let error = #expect(throws: NetworkError.self) {
                    try configuration.validate(for: CurlLibrary(version: "", features: .asynchronousLookup))
                }
                #expect(error?.description.contains("\(part): this system's libcurl") == true)
            }
        }
    #endif

    @Test("Every unchecked conformance says why it is safe")
    func uncheckedSaysBecause() throws {
        for target in ["Networking", "NetworkingTesting"] {
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

    @Test("What keeps time in these tests is given a clock of the test's: a slow machine changes nothing")
    func clocks() throws {
        let directory = Self.root.appendingPathComponent("Tests/NetworkingTests")
        let enumerator = try #require(FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil))
        for case let url as URL in enumerator
        where url.pathExtension == "swift" && !url.path.contains("/Documentation/") && !url.path.hasSuffix(#fileID) {
            let text = try String(contentsOf: url, encoding: .utf8)
            let calls = text.matches(
                of: /\b(?:AccessTokenSupervisor|AccessTokenFile|ReachabilityService)\(((?:[^()]|\([^()]*\))*)\)/)
            for call in calls where !call.output.1.isEmpty {
                #expect(call.output.1.contains("clock"), "\(url.lastPathComponent): \(call.output.0)")
            }
        }
    }

    @Test("The visible top level is the five names")
    func topLevel() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.root.path).filter { !$0.hasPrefix(".") }
        #expect(
            Set(names).subtracting(["Package.resolved"]) == [
                "Package.swift", "Sources", "Tests", "Example", "README.md",
            ])
    }

    @Test("Networking imports no package, and NetworkingTesting uses its public API only")
    func imports() throws {
        let allowed: Set<String> = [
            "Foundation", "FoundationNetworking", "Glibc", "Musl", "Darwin", "Networking", "CLibcurl",
        ]
        for target in ["Networking", "NetworkingTesting"] {
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
