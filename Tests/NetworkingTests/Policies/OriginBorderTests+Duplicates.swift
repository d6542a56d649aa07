import Foundation
import NetworkingTesting
import Testing

@testable import Networking

// Calls that share a response from another origin.
extension OriginBorderTests {
    private enum Secret: HTTPRequest.Option {
        static let defaultValue = ""
        static let isSensitive = true
    }

    @Test("A call that joins another one, whose response comes from another origin, gets no sensitive options with it")
    func joined() async throws {
        let joined = Box(0)
        let mayGo = Settlement<Void>()
        let stub = StubTransport { request in
            guard request.url.host != "mirror.example" else { return .text("found") }
            await mayGo.wait()
            return .status(.found, headers: [.location: "https://mirror.example/there"])
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.duplicates = DuplicateRequestPolicy { _, _ in
                joined.change { $0 += 1 }
                return .join
            }
        }
        let settings = RequestSettings { $0.options[Secret.self] = "secret" }
        let tasks = (0..<2).map { _ in service.task(UserEndpoint.open, as: .string, with: settings) }
        while joined.value == 0 { await Task.yield() }
        mayGo.settle(.success(()))
        for task in tasks {
            let request = try await task.response.http.request
            #expect(request.url.host == "mirror.example")
            #expect(request.options[Secret.self] == "")
        }
    }
}
