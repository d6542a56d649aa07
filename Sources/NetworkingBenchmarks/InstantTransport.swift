#if os(Linux)
    import Foundation
    import Networking

    /// A transport that responds at once, so that only the library's own cost is measured.
    struct InstantTransport: Transport {
        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            HTTPResponse(
                .ok, headers: [.contentType: "application/json"], content: .data(InstantTransport.body), to: request)
        }

        private static let body = Data("{}".utf8)
    }
#endif
