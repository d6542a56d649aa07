// The Swift blocks of MigratingFromPkrllNetwork.md, unchanged. `DocumentationTests` compares them with the article.

import Foundation
import Networking

private enum PkrllNetworkGuide {
    static func requests(_ api: NetworkService, _ url: URL) async throws {
        // snippet.requests
        // HTTPRequest is a value type.
        let made = HTTPRequest(.get, url, headers: [.accept: "application/json"])
        let call = AdHocEndpoint("PROPFIND", "files").header("Depth", "1").query(
            "all", true)
        try await api.request(.patch("users/7").body(.json(["name": "Ada"])))
        // snippet.end
        _ = (made, call)
    }

    static func bodies() {
        // snippet.bodies
        let bodies: [HTTPBody] = [
            .empty, .data(Data([1])), .json(["a": 1], encoder: JSONEncoder()),
            .encoded(headers: [.contentType: "text/csv"]) { Data("a,b".utf8) },
        ]
        // snippet.end
        _ = bodies
    }

    // snippet.option
    enum Tenant: HTTPRequest.Option {
        static let defaultValue = "main"
    }

    struct TenantAdapter: SynchronousRequestAdapter {
        func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
            request.headers["X-Tenant"] = request[option: Tenant.self]
        }
    }
    // snippet.end

    static func environment(_ url: URL, _ staging: URL) async throws {
        // snippet.environment
        let api = NetworkService(
            environment: NetworkEnvironment(
                baseURL: url, pathPrefix: "v2", headers: ["X-App": "1"],
                query: ["lang": "en"]))
        // Replaces the whole environment.
        let elsewhere = RequestSettings {
            $0.environment = NetworkEnvironment(baseURL: staging)
        }
        try await api.request(.get("users"), with: elsewhere)
        // snippet.end
    }

    static func throttling(_ url: URL) async throws {
        // snippet.throttling
        // At most 4 calls for each host and 16 in total, in order of arrival.
        let limit = ConcurrencyLimit(4, total: 16)
        let api = NetworkService(environment: NetworkEnvironment(baseURL: url)) {
            $0.concurrencyLimit = limit
        }
        try await api.request(.get("urgent").settings { $0.admission = .unlimited })
        // snippet.end
    }

    static func answers(_ api: NetworkService) async {
        // snippet.answers
        do {
            // Every status is accepted, even 404.
            let response = try await api.response(
                .get("maybe").settings { $0.validators = [] }, as: .data)
            print(response.http.status.description, response.http.headers)
        } catch let error as NetworkError {
            print(
                error.kind, error.request as Any, error.response as Any,
                error.underlying as Any)
        } catch {
            print(error)
        }
        // snippet.end
    }

    // snippet.transport
    struct StopwatchTransport: Transport {
        let base: any Transport
        let note: @Sendable (Duration) -> Void

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery)
            async throws -> HTTPResponse
        {
            let start = ContinuousClock.now
            defer { note(ContinuousClock.now - start) }
            return try await base.send(request, delivering: delivery)
        }
    }
    // snippet.end

    static func assembling(_ url: URL) {
        // snippet.assembling
        let api = NetworkService(environment: NetworkEnvironment(baseURL: url)) {
            $0.transport = StopwatchTransport(base: PlatformTransport.shared) {
                print($0)
            }
            $0.requestAdaptingService = RequestAdaptingService([
                HeadersAdapter(["X-Time": "1"])
            ])
            $0.observers = [LogObserver { print($0) }]
        }
        // snippet.end
        _ = api
    }

    static func running(_ api: NetworkService) async {
        // snippet.running
        let task = api.task(.get("users"), as: .data)
        task.onCompletion { result in print(result) }.onCompletion { _ in
            print("second")
        }
        task.onCancel { print("called second") }.onCancel { print("called first") }
        print(task.id, task.request as Any, task.cancel())

        // Ends every call with `.resetting`, and waits until all have ended.
        await api.reset()
        // snippet.end
    }
}
