import Foundation
import Networking

/// The command that fetches one real URL and prints the response.
enum Fetch {
    /// An endpoint for the URL from the command line.
    private struct Page: Endpoint {
        let url: URL
        let isAuthorized: Bool

        var baseURL: URL { url }
        var path: EndpointPath { "" }
        var authorizationType: AuthorizationType { isAuthorized ? .bearer : .none }
    }

    static func run(_ url: URL, bearer: String?) async -> Bool {
        let session = AccessTokenSupervisor(token: bearer.map { AccessToken($0) }) { _ in throw AccessToken.Rejected() }
        let service = NetworkService(environment: NetworkEnvironment(), authorizedBy: session) {
            $0.settings = RequestSettings {
                $0.timeouts = HTTPRequest.Timeouts(idle: .seconds(15), total: .seconds(60))
                $0.validators = []
            }
        }
        do {
            let response = try await service.response(Page(url: url, isAuthorized: bearer != nil), as: .data)
            print("engine: \(PlatformTransport.shared)")
            print(response.http.request.curlCommand())
            print("\(response.http.status)  \(response.http.url.absoluteString)")
            for field in response.http.headers { print("  \(field)") }
            print("body: \(response.value.count) bytes")
            let timing = response.http.timing
            print(
                "name: \(text(timing.nameLookup)), connected: \(text(timing.connect)), TLS: \(text(timing.tls)), "
                    + "first byte: \(text(timing.firstByte)), total: \(text(timing.total))")
            print(response.report.waterfall)
            return response.http.status.isSuccessful
        } catch {
            if let request = (error as? NetworkError)?.request { print(request.curlCommand()) }
            print("error: \(error.localizedDescription)")
            // The text for developers names the kind, the place and the cause.
            print("\(error)")
            return false
        }
    }

    private static func text(_ duration: Duration?) -> String {
        duration.map { String(format: "%.1f ms", $0 / .milliseconds(1)) } ?? "unknown"
    }
}
