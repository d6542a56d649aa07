import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("README")
struct ReadmeTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The code's lines without indentation, blank lines and imports.
    private static func lines(_ code: Substring) -> [String] {
        code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("import ") }
    }

    @Test("Every Swift block of the README stands verbatim in a compiled file")
    func blocks() throws {
        let readme = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
        let file = Self.root.appendingPathComponent("Tests/NetworkingTests/Documentation/ReadmeExamples.swift")
        let compiled = Self.lines(Substring(try String(contentsOf: file, encoding: .utf8))).joined(separator: "\n")
        let blocks = readme.matches(of: /(?s)```swift\n(.*?)```/).map { Self.lines($0.output.1) }
        #expect(blocks.count >= 7)
        for block in blocks {
            #expect(compiled.contains(block.joined(separator: "\n")), "not compiled: \(block.first ?? "")")
        }
    }

    @Test("The README's tests do what they say")
    func examples() async throws {
        let api = try #require(URL(string: "https://api.example.com"))
        #expect(try await exampleOfAStub(api).name == "Ada")
    }

    @Test("The README's session refreshes and its observer is told")
    func session() async throws {
        let stub = StubTransport()
        stub.on(.post, "/v1/token", .json(text: #"{"token":"new","expiresIn":60,"refreshToken":"again"}"#))
        stub.on(.get, "/v1/users/7") { request in
            request.headers[.authorization] == "Bearer new"
                ? .json(Profile(id: 7, name: "Ada")) : .status(.unauthorized)
        }
        let auth = NetworkService(environment: Fixture.environment, transport: stub)
        let session = makeSession(auth, stored: AccessToken("old", refreshToken: "first"))
        let profiles = ProfileService(environment: Fixture.environment, authorizedBy: session, transport: stub)
        #expect(try await profiles.profile(7).name == "Ada")
        #expect(session.accessToken?.refreshToken == "again")
    }
}
