// The block of MainActor.md that needs no `nonisolated` but for its model. `.ci/isolation` compiles this file with the
// main actor as the default isolation.

import Networking

// snippet.structures
nonisolated struct Tune: Codable, Sendable {
    let id: Int
    let title: String
}

enum TuneEndpoint: Endpoint {
    case fetch(id: Int)

    var path: EndpointPath {
        switch self {
        case .fetch(let id): "tunes/\(id)"
        }
    }
}

struct TuneService: NetworkRequesting {
    let client: NetworkClient

    func tune(_ id: Int) async throws -> Tune {
        try await request(TuneEndpoint.fetch(id: id))
    }
}

struct TenantHeader: RequestAdapter {
    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint)
        async throws
    {
        request.headers["X-Tenant"] = "acme"
    }
}
// snippet.end
