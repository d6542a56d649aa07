import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    /// An app with the structure that the documentation of RonasIT's library describes. Simple classes replace the
    /// classes of UIKit. The callbacks are written as in a view controller, without `assumeIsolated`. Only the service
    /// subclasses and the log need `@unchecked`.
    @Suite("An app with view controllers")
    @MainActor
    struct AppTests {
        @Test(
            "View controllers hold requests weakly and set labels in callbacks; an expired token is refreshed"
        )
        func app() async throws {
            let backend = try Backend()
            let app = App(backend.server.url)
            let profile = ProfileViewController(app.profiles)
            profile.load()
            #expect(profile.isLoading)
            try await wait { profile.label.text == "Ada" && !profile.isLoading }
            #expect(backend.refreshes.value == 1)

            let upload = UploadViewController(app.profiles)
            upload.save(city: "Ulm")
            try await wait { upload.label.text == "saved Ulm" }
            upload.upload(Data("jpeg".utf8))
            try await wait { upload.label.text == "4 bytes" }
            upload.fail()
            try await wait { upload.label.text == "No such profile" }
            #expect(app.log.lines.all == ["GET /profile/404: 404"], "the session has handled the 401")
            #expect(backend.isAdapted.value, "the adapter has run")
        }

        @Test("The banner hides while the server is reachable, and appears when the server stops")
        func banner() async throws {
            let backend = try Backend()
            let app = App(backend.server.url)
            let root = RootViewController(app.reachability)
            root.banner.isHidden = false
            app.reachability.startMonitoring()
            try await wait { root.banner.isHidden }
            backend.server.stop()
            try await wait { !root.banner.isHidden }
        }

        private func wait(until isTrue: () -> Bool) async throws {
            for _ in 0..<2_000 where !isTrue() { try await Task.sleep(for: .milliseconds(10)) }
            #expect(isTrue())
        }
    }
}

/// A server that accepts only the token that a refresh returns.
private struct Backend {
    let server: LoopbackServer
    let refreshes = Box(0)
    let isAdapted = Box(true)

    init() throws {
        server = try LoopbackServer()
        let (refreshes, isAdapted) = (refreshes, isAdapted)
        server.route(.post, "/token") { request in
            refreshes.change { $0 += 1 }
            return try await request.data() == Data("first".utf8) ? .text("fresh") : LoopbackResponse(.badRequest)
        }
        server.route(nil, "/profile/:rest") { request in
            isAdapted.change { $0 = $0 && request.headers["X-App"] == "app" }
            guard request.headers[.authorization] == "Bearer fresh" else { return LoopbackResponse(.unauthorized) }
            let body = try await request.data()
            switch request.parameters["rest"] {
            case "7": return .json(Profile(name: "Ada"))
            case "address": return LoopbackResponse(body == Data("city=Ulm".utf8) ? .noContent : .badRequest)
            case "photo": return .text(body.range(of: Data("jpeg".utf8)) == nil ? "nothing" : "4 bytes")
            default: return LoopbackResponse(.notFound)
            }
        }
    }
}
