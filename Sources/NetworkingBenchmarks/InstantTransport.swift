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

    /// A transport that responds at once, and accepts each token for one request only: each call is refused, refreshes
    /// the token, and is repeated.
    actor OnceTransport: Transport {
        private var number = 0
        private var accepted = ""

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            let json: HTTPHeaders = [.contentType: "application/json"]
            guard let field = request.headers[.authorization] else {
                number += 1
                accepted = "token-\(number)"
                return HTTPResponse(
                    .ok, headers: json, content: .data(Data(#"{"token":"\#(accepted)"}"#.utf8)), to: request)
            }
            guard field == "Bearer \(accepted)" else { return HTTPResponse(.unauthorized, to: request) }
            accepted = ""
            return HTTPResponse(.ok, headers: json, content: .data(Data("{}".utf8)), to: request)
        }
    }
#endif
