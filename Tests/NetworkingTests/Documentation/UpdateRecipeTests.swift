// Runs, unchanged, the block about conditional writes from Recipes.md and CallsAndTasks.md. `DocumentationTests` compares
// it with the articles.

import Foundation
import Networking
import NetworkingTesting
import Testing

// snippet.update
enum LampEndpoint: Endpoint {
    case fetch(Int)
    case replace(Int, Lamp)

    var path: EndpointPath {
        switch self {
        case .fetch(let id), .replace(let id, _): "lamps/\(id)"
        }
    }

    var method: HTTPMethod { if case .replace = self { .put } else { .get } }

    var body: HTTPBody {
        if case .replace(_, let lamp) = self { .json(lamp) } else { .empty }
    }
}

struct Lamp: Codable, Sendable {
    var brightness: Int
}

func dim(_ id: Int, with service: NetworkService) async throws {
    try await service.update(LampEndpoint.fetch(id)) { (lamp: Lamp) in
        LampEndpoint.replace(id, Lamp(brightness: lamp.brightness / 2))
    }
}
// snippet.end

@Suite("Conditional writes of the recipes", .endsInTime)
struct UpdateRecipeTests {
    @Test("A value is halved, although somebody else changes it at the same time")
    func dimming() async throws {
        let stub = StubTransport()
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        func lamp(_ brightness: Int, _ tag: String) -> StubResponse {
            StubResponse(
                .ok, headers: [.eTag: tag, .contentType: "application/json"],
                body: Data("{\"brightness\":\(brightness)}".utf8))
        }
        stub.on(.get, "/v1/lamps/7", lamp(80, "\"a\""), lamp(60, "\"b\""))
        stub.on(.put, "/v1/lamps/7", .status(.preconditionFailed), .status(.noContent))
        try await dim(7, with: service)
        #expect(stub.requests.last?.body.data == Data("{\"brightness\":30}".utf8))
    }
}
