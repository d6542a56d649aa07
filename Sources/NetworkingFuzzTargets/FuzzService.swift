import Foundation
import Networking

/// A service without policies. The target sets its transport.
struct FuzzService: NetworkRequesting {
    let client: NetworkClient

    init(
        _ environment: NetworkEnvironment = NetworkEnvironment(baseURL: FuzzTarget.escapedURL),
        configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) {
        client = NetworkClient(environment: environment) {
            $0.errorMapping = .unmapped
            $0.retry = nil
            configure(&$0)
        }
    }

    /// Returns the request of an endpoint, as it would be sent.
    func request(of endpoint: AdHocEndpoint) throws -> HTTPRequest {
        try client.adaptedRequestNow(of: endpoint)
    }
}
