import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Error texts", .endsInTime)
struct ErrorTextTests {
    private func error(_ answer: StubResponse, _ retry: RetryPolicy? = nil) async -> NetworkError? {
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in answer }
            $0.retry = retry
            $0.errorMapping = .unmapped
        }
        return await Fixture.failure {
            try await service.request(
                .get("users/7").query("token", "secret").header(.authorization, "Bearer secret"))
        } as? NetworkError
    }

    @Test(
        "A description is one line: method, URL, status, attempts and retry reason, without query and secrets",
        .row("I-51", "P-12"))
    func text() async throws {
        let error = try #require(await error(.status(.serviceUnavailable), RetryPolicy(retries: 1)))
        #expect(
            error.description
                == "GET api.example.com/v1/users/7: 503 Service Unavailable (2 attempts; not retried: the policy's 1 retry is used up)"
        )
        #expect(error.recoverySuggestion == "Try again later.")
        #expect(error.failureReason == "503 Service Unavailable")
        #expect(error.localizedDescription == "The request failed.")
        #expect(error.debugDescription == error.description, "the error of an unavailable server has no hint")
        #expect(HTTPStatus(0).code == 0 && !HTTPStatus(0).isSuccessful)
    }

    @Test("A description is one line, even if a URL, a method or a reason has a line break")
    func oneLine() throws {
        // Foundation accepts this URL, although its path contains a line break. A server can send such a URL in a link.
        let url = try #require(URL(string: ":\n2026-01-01 all is well"))
        let request = HTTPRequest(HTTPMethod("G\r\nT"), url)
        let error = NetworkError(.invalidRequest, reason: "expected a number, found \u{2028}\u{85}", request: request)
        for text in [request.description, error.description, error.debugDescription] {
            #expect(!text.contains { $0.isNewline }, "\(text.debugDescription)")
        }
        #expect(request.description.hasPrefix("G\\r\\nT "))
        #expect(NetworkError(.unknown, reason: "é, 日本").description == "é, 日本")
    }

    @Test("An error that is bridged to NSError has a domain, a code, a URL and the underlying error, but no secrets")
    func bridging() async throws {
        let status = try #require(await error(.status(.notFound))) as NSError
        #expect(status.domain == "Networking.NetworkError" && status.code == 404)
        #expect(
            (status.userInfo[NSURLErrorFailingURLErrorKey] as? URL)?.absoluteString
                == "https://api.example.com/v1/users/7")
        #expect(!"\(status.userInfo)".contains("secret"))
        let timeout = try #require(await error(.failure(.idleTimedOut))) as NSError
        #expect(timeout.code == URLError.Code.timedOut.rawValue)
        #expect(timeout.localizedDescription == "The request took too long.")
        #expect(timeout.localizedRecoverySuggestion == "Try again later.")
        #expect(NetworkError(.idleTimedOut).hint?.contains("timeouts.idle") == true)
        let beneath = NetworkError(.unknown, underlying: POSIXError(.ECONNRESET)) as NSError
        #expect((beneath.userInfo[NSUnderlyingErrorKey] as? NSError)?.domain == NSPOSIXErrorDomain)
        let failing = URLError(.timedOut, userInfo: ["NSErrorFailingURLStringKey": "https://a.example/?secret"])
        #expect(!"\((NetworkError(.unknown, underlying: failing) as NSError).userInfo)".contains("secret"))
        #expect(GeneralRequestError.notFound.localizedDescription == "Nothing was found.")
        let general = GeneralRequestError.notFound as NSError
        #expect(general.domain == "Networking.GeneralRequestError" && general.code == 404)
        #expect(GeneralRequestError.noAuth.recoverySuggestion == "Log in and try again.")
        let (full, denied) = (POSIXError(.ENOSPC), POSIXError(.EACCES))
        #expect(
            NetworkError(.fileNotWritable, underlying: full).recoverySuggestion
                == "Make room on the device and try again.")
        #expect(NetworkError(.fileNotWritable, underlying: denied).recoverySuggestion == nil)
    }

    @Test("The text for a request without a token is about the failed refresh, unless the refresh was refused")
    func withoutToken() async throws {
        let noNetwork = NetworkError(.notConnected)
        for cause in [noNetwork, GeneralRequestError(.noInternetConnection, cause: noNetwork)] as [any Error] {
            let offline = NetworkError(.noToken, underlying: cause)
            #expect(offline.errorDescription == "There is no internet connection.")
            #expect(offline.recoverySuggestion == "Connect to a network and try again.")
        }
        for status in [HTTPStatus.serviceUnavailable, .tooManyRequests] {
            let busy = NetworkError(.noToken, underlying: await error(.status(status)))
            #expect(busy.errorDescription == "The log-in cannot be checked at the moment.")
            #expect(busy.recoverySuggestion == "Try again later.")
        }
        let unauthorized = try #require(await error(.status(.unauthorized)))
        let forbidden = try #require(await error(.status(.forbidden)))
        let badRequest = try #require(await error(.status(.badRequest)))
        let refusals: [any Error] = [
            AccessToken.Rejected(), unauthorized, GeneralRequestError(.forbidden, cause: forbidden),
            ServerFailure("invalid_grant", badRequest),
        ]
        for refusal in refusals {
            let refused = NetworkError(.noToken, underlying: refusal)
            #expect(refused.errorDescription == "You are not logged in.", "\(refusal)")
            #expect(refused.recoverySuggestion == "Log in and try again.", "\(refusal)")
        }
    }

    @Test("A response and an error both have status, headers, body and URL", .row("I-17", "I-18"))
    func response() async throws {
        let error = try #require(await error(StubResponse(.conflict, headers: ["A": "b"], body: Data("text".utf8))))
        #expect(error.status == .conflict && error.response?.headers["a"] == "b")
        #expect(error.response?.data == Data("text".utf8) && error.response?.url.path == "/v1/users/7")
        #expect(error.response?.status.reasonPhrase == "Conflict" && error.request?.method == .get)
    }

    @Test(
        "No text shows the user or the password of a URL",
        arguments: [
            "https://user:secret@a.example/x", "user:secret@a.example/x", "//user:secret@a.example",
            "https://a.example/@x?secret",
        ])
    func secrets(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(!url.withoutSecrets.contains("secret"))
        let path = try #require(URL(string: "https://a.example/users/@ada"))
        #expect(path.withoutSecrets == "https://a.example/users/@ada")
    }
}
