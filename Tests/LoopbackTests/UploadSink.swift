import Foundation
import Networking
import NetworkingTesting

/// A server that stores each body with its media type, and responds with 204.
final class UploadSink: Sendable {
    struct Received: Sendable {
        let contentType: String
        let length: String?
        let body: Data
    }

    let server: LoopbackServer
    private let received = Box<[Received]>([])

    init() throws {
        let received = received
        server = try LoopbackServer { request in
            let body = try await request.data()
            received.change {
                $0.append(
                    Received(
                        contentType: request.headers[.contentType] ?? "", length: request.headers[.contentLength],
                        body: body))
            }
            return LoopbackResponse(.noContent)
        }
    }

    var all: [Received] { received.value }

    private struct Upload: Endpoint {
        let body: HTTPBody
        var path: EndpointPath { "upload" }
        var method: HTTPMethod { .post }
    }

    /// Sends a body to the server.
    func send(_ body: HTTPBody, _ engine: Engine = .preferred) async throws {
        let transport = try engine.shared()
        let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
            $0.transport = transport
        }
        try await service.request(Upload(body: body))
    }
}
