// The tests run the Swift blocks of Inspector.md, and one of Recipes.md. `DocumentationTests` checks that the texts are
// the same.

import Foundation
import Networking
import NetworkingInspector
import NetworkingTesting
import Testing

func makeInspected(
    _ environment: NetworkEnvironment
) throws -> (NetworkService, URL) {
    let inspector = try NetworkInspector()  // or a port, such as 8899
    let service = NetworkService(environment: environment) {
        $0.observers.append(inspector)
    }
    inspector.show(service)
    return (service, inspector.url)
}

struct PhotoQueue: InspectablePart {
    let photos: [URL]

    func facts() async -> [(name: String, value: String)] {
        [("photos that wait", "\(photos.count)")]
    }
}

func showingCalls(
    of inspector: NetworkInspector, in file: URL,
    _ test: () async throws -> Void
) async throws {
    do {
        try await test()
    } catch {
        try await inspector.archive.html().write(to: file)
        throw error
    }
}

extension Loopback {
    @Suite("Recipes for the inspector")
    struct InspectorRecipeTests {
        @Test("The page has the calls of the service, and its parts")
        func inspected() async throws {
            let (service, url) = try makeInspected(
                NetworkEnvironment(baseURL: URL(string: "https://api.example.com")))
            #expect(url.host == "127.0.0.1" && url.path.count > 20)
            #expect(service.client.inspectableParts.count >= 2)
            #expect(await PhotoQueue(photos: []).facts().map(\.value) == ["0"])
        }

        @Test("The page of a failed test has its calls, and that of a test that passes is not written")
        func failedTest() async throws {
            let inspector = try NetworkInspector()
            let (clock, stub) = (ManualClock(), StubTransport())
            stub.on(nil, nil, .status(.notFound))
            let service = NetworkService(
                environment: NetworkEnvironment(baseURL: URL(string: "https://api.example.com"))
            ) {
                $0.transport = stub
                $0.clock = clock.networkClock
                $0.observers.append(inspector)
            }
            let file = FileManager.default.temporaryDirectory.appending(path: "calls-\(UUID()).html")
            defer { try? FileManager.default.removeItem(at: file) }
            try await showingCalls(of: inspector, in: file) {}
            #expect(!FileManager.default.fileExists(atPath: file.path))
            await #expect(throws: (any Error).self) {
                try await showingCalls(of: inspector, in: file) { try await service.request(.get("orders")) }
            }
            let page = try String(contentsOf: file, encoding: .utf8)
            #expect(page.contains("/orders") && page.contains("404"))
        }
    }
}
