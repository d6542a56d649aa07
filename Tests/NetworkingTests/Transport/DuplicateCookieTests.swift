import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Duplicate requests of a service with cookies", .endsInTime)
struct DuplicateCookieTests {
    private let transport = ManualTransport()

    @Test("A double tap is one transfer, also if a cookie of another server changes between the taps")
    func doubleTapWithCookies() async throws {
        let jar = CookieJar()
        let other = try #require(URL(string: "https://metrics.example.org/"))
        let service = NetworkService(environment: Fixture.environment) {
            $0.duplicates = .always(.keepFirst, includesUnsafeMethods: true)
            $0.cookies = jar
            $0.transport = transport
        }
        let first = service.task(AdHocEndpoint(.post, "search"), as: .string)
        await transport.waitForRequests()
        jar.keep([HTTPHeader(.setCookie, "lb=1")], from: other)
        let second = service.task(AdHocEndpoint(.post, "search"), as: .string)
        await #expect(throws: GeneralRequestError.cancelled) { try await second.value }
        transport.answer(.ok, "paid")
        #expect(try await first.value == "paid")
    }

    @Test("After another user's cookie was stored, a call does not join a transfer that a redirect has led elsewhere")
    func cookiesOfRedirects() async throws {
        let jar = CookieJar()
        let other = try #require(URL(string: "https://other.example.org/slow"))
        jar.keep([HTTPHeader(.setCookie, "sid=ada")], from: other)
        let service = NetworkService(environment: Fixture.environment) {
            $0.duplicates = .always(.join)
            $0.cookies = jar
            $0.transport = transport
        }
        let first = service.task(AdHocEndpoint.get("search"), as: .string)
        await transport.waitForRequests()
        transport.answer(.found, headers: [.location: other.absoluteString])
        await transport.waitForRequests()
        // The next user logs in, without a log-out before.
        jar.keep([HTTPHeader(.setCookie, "sid=grace")], from: other)
        let second = service.task(AdHocEndpoint.get("search"), as: .string)
        await transport.waitForRequests(2)
        transport.answer(.ok, "data of ada")
        transport.answer(.ok, "data of grace")
        #expect(try await (first.value, second.value) == ("data of ada", "data of grace"))
    }
}
