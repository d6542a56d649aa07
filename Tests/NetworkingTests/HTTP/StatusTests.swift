import Networking
import Testing

@Suite("Statuses", .endsInTime)
struct StatusTests {
    @Test("Each named status has the code and the phrase of the IANA registry")
    func names() {
        let statuses: [HTTPStatus] = [
            .continue, .switchingProtocols, .ok, .created, .accepted, .noContent, .resetContent, .partialContent,
            .movedPermanently, .found, .seeOther, .notModified, .temporaryRedirect, .permanentRedirect,
            .badRequest, .unauthorized, .paymentRequired, .forbidden, .notFound, .methodNotAllowed, .notAcceptable,
            .proxyAuthenticationRequired, .requestTimeout, .conflict, .gone, .preconditionFailed, .contentTooLarge,
            .unsupportedMediaType, .rangeNotSatisfiable, .unprocessableContent, .locked, .tooEarly,
            .preconditionRequired, .tooManyRequests, .unavailableForLegalReasons,
            .internalServerError, .notImplemented, .badGateway, .serviceUnavailable, .gatewayTimeout,
        ]
        #expect(
            statuses.map(\.description) == [
                "100 Continue", "101 Switching Protocols", "200 OK", "201 Created", "202 Accepted", "204 No Content",
                "205 Reset Content", "206 Partial Content",
                "301 Moved Permanently", "302 Found", "303 See Other", "304 Not Modified", "307 Temporary Redirect",
                "308 Permanent Redirect",
                "400 Bad Request", "401 Unauthorized", "402 Payment Required", "403 Forbidden", "404 Not Found",
                "405 Method Not Allowed", "406 Not Acceptable", "407 Proxy Authentication Required",
                "408 Request Timeout", "409 Conflict", "410 Gone", "412 Precondition Failed", "413 Content Too Large",
                "415 Unsupported Media Type", "416 Range Not Satisfiable", "422 Unprocessable Content", "423 Locked",
                "425 Too Early", "428 Precondition Required", "429 Too Many Requests",
                "451 Unavailable For Legal Reasons",
                "500 Internal Server Error", "501 Not Implemented", "502 Bad Gateway", "503 Service Unavailable",
                "504 Gateway Timeout",
            ])
    }
}
