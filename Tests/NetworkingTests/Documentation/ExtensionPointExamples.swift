// The Swift blocks in the documentation comments of the extension points, unchanged. `DocumentationTests` compares them
// with the comments.

import Foundation
import Networking

private enum ExtensionPoints {
    struct AppError: Error {
        static let maintenance = AppError()
    }

    struct MissingCount: Error {}

    struct AppState: Sendable {
        var isActive: Bool { true }
        func becomesActive() async {}
    }

    struct Grant: Decodable, Sendable {
        let token: String
        let expiresIn: Int
        let refreshToken: String
    }

    // snippet.Policies/Adapters/RequestAdaptingService
    struct TenantAdapter: RequestAdapter {
        let tenant: String

        func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
            request.headers["X-Tenant"] = tenant
        }
    }
    // snippet.end

    // snippet.Call/Failure/ErrorHandler
    struct MaintenanceHandler: ErrorHandler {
        func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
            .next(failure.status == .serviceUnavailable ? AppError.maintenance : failure.error)
        }
    }
    // snippet.end

    // snippet.Transport/Engine/Transport
    struct StopwatchTransport: Transport {
        let base: any Transport

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            let start = ContinuousClock.now
            defer { print(request, ContinuousClock.now - start) }
            return try await base.send(request, delivering: delivery)
        }
    }
    // snippet.end

    // snippet.HTTP/Body/HTTPBody+Reader
    final class CountdownReader: HTTPBody.Reader, @unchecked Sendable {  // because one thread reads at a time
        private var lines = ["1\n", "2\n", "3\n"]

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> HTTPBody.ReadResult {
            guard let line = lines.popLast() else { return .end }
            buffer.copyBytes(from: line.utf8)
            return .bytes(line.utf8.count)
        }
    }
    // snippet.end

    // snippet.Primitives/ResetParticipant
    /// Counts the requests of the current user. A reset starts the count of the next user.
    actor RequestCounter: RequestAdapter {
        private var count = 0

        func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async {
            count += 1
            request.headers["X-Request-Number"] = "\(count)"
        }

        func reset() { count = 0 }
    }
    // snippet.end

    // snippet.Policies/Observation/RequestObserver
    struct SlowCallObserver: RequestObserver {
        let report: @Sendable (String) -> Void

        func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
            guard case .finished(let finished) = event, finished.duration > .seconds(2) else { return }
            report(finished.waterfall)
        }
    }
    // snippet.end

    // snippet.Policies/Admission/AdmissionPolicy
    /// Sends no request while the app is in the background.
    struct ForegroundOnly: AdmissionPolicy {
        let app: AppState

        func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? {
            app.isActive ? AdmissionPermit() : nil
        }

        func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
            try await withCallCancellation { await app.becomesActive() }
            return AdmissionPermit()
        }

        func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {}
    }
    // snippet.end

    // snippet.Policies/Connectivity/ReachabilityProbe
    struct HealthProbe: ReachabilityProbe {
        let service: NetworkService

        func status() async -> ReachabilityStatus {
            let isUp = (try? await service.request(.get("health"))) != nil
            return isUp ? .reachable(.ethernetOrWiFi) : .notReachable
        }
    }
    // snippet.end

    static func converting(_ service: NetworkService) async throws {
        // snippet.Call/Reading/ResponseConverter
        let count = ResponseConverter<Int> { response in
            guard let count = response.headers["X-Total"].flatMap(Int.init) else { throw MissingCount() }
            return count
        }
        let total = try await service.request(.head("users"), as: count)
        // snippet.end
        _ = total
    }

    struct Forecast: Decodable, Sendable {}

    struct WeatherEndpoint: Endpoint {
        static let today = WeatherEndpoint()
        let path: EndpointPath = "today"
    }

    // snippet.Service/NetworkRequesting
    struct Weather: NetworkRequesting {
        let client: NetworkClient

        func today() async throws -> Forecast { try await request(WeatherEndpoint.today) }
    }
    // snippet.end

    struct SignIn: Sendable {
        func refresh(_ old: AccessToken?) async throws -> AccessToken { AccessToken("new") }
    }

    static func storing(_ folder: URL, _ signIn: SignIn) {
        // snippet.Policies/Session/AccessTokenStore
        let session = AccessTokenSupervisor(store: AccessTokenFile(folder.appending(path: "token.json"))) { old in
            try await signIn.refresh(old)
        }
        // snippet.end
        _ = session
    }

    static func validating() {
        // snippet.Call/Reading/ResponseValidator
        let hasVersion = ResponseValidator { response in
            response.headers.contains("X-Version") ? .valid : .invalid("the response has no X-Version")
        }
        // snippet.end
        _ = hasVersion
    }
}

// snippet.HTTP/Message/HTTPRequest+Options
enum TenantOption: HTTPRequest.Option {
    static let defaultValue = "public"  // if a request sets no tenant
}

extension HTTPRequest.Options {
    var tenant: String {
        get { self[TenantOption.self] }
        set { self[TenantOption.self] = newValue }
    }
}

func news(_ service: NetworkService) async throws {
    try await service.request(.get("news"), with: RequestSettings { $0.options.tenant = "acme" })
}
// snippet.end
