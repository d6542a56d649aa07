// The Swift blocks in the documentation comments of the extension points, as they stand there. `DocumentationTests` compares them.

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

    // snippet.Policies/Adapters/RequestAdapter
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

        func send(_ request: HTTPRequest, answering timing: AnswerTiming) async throws -> HTTPResponse {
            let start = ContinuousClock.now
            defer { print(request, ContinuousClock.now - start) }
            return try await base.send(request, answering: timing)
        }
    }
    // snippet.end

    // snippet.HTTP/Body/BodyReader
    final class CountdownReader: BodyReader, @unchecked Sendable {  // because one thread reads at a time
        private var lines = ["1\n", "2\n", "3\n"]

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> BodyRead {
            guard let line = lines.popLast() else { return .end }
            buffer.copyBytes(from: line.utf8)
            return .bytes(line.utf8.count)
        }
    }
    // snippet.end

    // snippet.Policies/Observation/RequestObserver
    struct SlowCallObserver: RequestObserver {
        let report: @Sendable (String) -> Void

        func observe(_ event: RequestEvent, of call: ObservedCall) {
            guard case .finished(let finished) = event, finished.duration > .seconds(2) else { return }
            report(finished.waterfall)
        }
    }
    // snippet.end

    // snippet.Policies/Admission/AdmissionPolicy
    /// Lets nothing out while the app is in the background.
    struct ForegroundOnly: AdmissionPolicy {
        let app: AppState

        func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionTicket? {
            app.isActive ? AdmissionTicket() : nil
        }

        func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionTicket {
            try await untilCallEnds { await app.becomesActive() }
            return AdmissionTicket()
        }

        func leave(_ ticket: AdmissionTicket, _ outcome: AdmissionOutcome) {}
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

    static func validating() {
        // snippet.Call/Reading/ResponseValidator
        let hasVersion = ResponseValidator { response in
            response.headers.contains("X-Version") ? .valid : .invalid("the answer has no X-Version")
        }
        // snippet.end
        _ = hasVersion
    }

    // snippet.Policies/Session/AccessTokenRefresher
    final class SignIn: AccessTokenRefresher {
        let auth: NetworkService

        init(auth: NetworkService) { self.auth = auth }

        func refreshAccessToken(_ old: AccessToken?) async throws -> AccessToken {
            guard let refreshToken = old?.refreshToken else { throw AccessTokenRejected() }
            let grant: Grant = try await auth.request(.post("token").body(.json(["refreshToken": refreshToken])))
            return AccessToken(grant.token, expiresIn: .seconds(grant.expiresIn), refreshToken: grant.refreshToken)
        }
    }
    // snippet.end
}

// snippet.HTTP/Message/RequestOption
enum TenantOption: RequestOption {
    static let defaultOption = "public"  // of a request for which none is set
}

extension RequestOptions {
    var tenant: String {
        get { self[TenantOption.self] }
        set { self[TenantOption.self] = newValue }
    }
}

func news(_ service: NetworkService) async throws {
    try await service.request(.get("news"), with: RequestSettings { $0.options.tenant = "acme" })
}
// snippet.end
