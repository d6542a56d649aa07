import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("What the rooms of the library add to a request", .endsInTime)
struct PartTests {
    /// A part that stays everywhere.
    private struct Loyal: HTTPRequest.Part {
        var value = 0
        var outsideOrigin: Loyal? { self }
        var outsideCall: Loyal? { self }
        var identity: [String] { [] }
    }

    /// A part that crosses no border.
    private final class Local: HTTPRequest.Part {
        var outsideOrigin: Local? { nil }
        var outsideCall: Local? { nil }
        var identity: [String] { ["local"] }
    }

    /// A part of which something else is left at each border.
    private struct Traveller: HTTPRequest.Part {
        let place: String
        var outsideOrigin: Traveller? { Traveller(place: "abroad") }
        var outsideCall: Traveller? { Traveller(place: "retired") }
        var identity: [String] { [place] }
    }

    private struct Wish: HTTPRequest.Order {
        var colour: String?
        var size: Int?
        var outsideOrigin: Wish? { self }
        var outsideCall: Wish? { nil }
        var identity: [String] { [] }

        func over(_ base: Wish) -> Wish { Wish(colour: colour ?? base.colour, size: size ?? base.size) }
    }

    private let local = Local()

    private var request: HTTPRequest {
        get throws {
            var request = HTTPRequest(.get, try #require(URL(string: "https://a.example/x")))
            request.parts[Loyal.self] = Loyal(value: 1)
            request.parts[Local.self] = local
            request.parts[Traveller.self] = Traveller(place: "home")
            request.parts[order: Wish.self].colour = "red"
            return request
        }
    }

    @Test("Each part is found by its type; a new part replaces the part of its type, and no other; nil removes it")
    func find() throws {
        var request = try request
        #expect(request.parts[Loyal.self]?.value == 1 && request.parts[Local.self] === local)
        #expect(request.parts[Traveller.self]?.place == "home" && request.parts[order: Wish.self].colour == "red")
        let copy = request
        request.parts[Loyal.self] = Loyal(value: 2)
        request.parts[Local.self] = nil
        #expect(request.parts[Loyal.self]?.value == 2 && request.parts[Local.self] == nil)
        #expect(request.parts[Traveller.self]?.place == "home" && request.parts[order: Wish.self].colour == "red")
        #expect(copy.parts[Loyal.self]?.value == 1 && copy.parts[Local.self] === local, "a copy does not change")
        #expect(HTTPRequest.Parts()[Loyal.self] == nil && HTTPRequest.Parts()[order: Wish.self].colour == nil)
    }

    @Test("What is left of a part outside its origin and outside its call is what the part says")
    func borders() throws {
        let request = try request
        var moved = request
        moved.url = try #require(URL(string: "https://b.example/x"))
        let there = moved.leavingOrigin(of: request)
        #expect(there.parts[Loyal.self]?.value == 1 && there.parts[Local.self] == nil)
        #expect(there.parts[Traveller.self]?.place == "abroad" && there.parts[order: Wish.self].colour == "red")
        let after = request.leavingCall()
        #expect(after.parts[Loyal.self]?.value == 1 && after.parts[Local.self] == nil)
        #expect(after.parts[Traveller.self]?.place == "retired" && after.parts[Wish.self] == nil)
        #expect(request.leavingOrigin(of: request).parts[Local.self] === local, "the same origin")
    }

    @Test("A request in the call of another request has its parts; of its own parts it keeps those of other types")
    func inCall() throws {
        var new = HTTPRequest(.post, try #require(URL(string: "https://a.example/y")))
        new.parts[Traveller.self] = Traveller(place: "elsewhere")
        let joined = try new.inCall(of: request)
        #expect(joined.method == .post && joined.url.path() == "/y")
        #expect(joined.parts[Traveller.self]?.place == "home" && joined.parts[Local.self] === local)
        var marked = try request
        marked.parts[Local.self] = nil
        #expect(try request.inCall(of: marked).parts[Local.self] === local)
    }

    @Test("Orders over other orders take the values that they do not set, and the parts of other types")
    func orders() {
        var (own, base) = (HTTPRequest.Parts(), HTTPRequest.Parts())
        own[order: Wish.self].colour = "red"
        base[order: Wish.self] = Wish(colour: "blue", size: 3)
        base[Loyal.self] = Loyal(value: 1)
        let merged = own.over(base)
        #expect(merged[order: Wish.self].colour == "red" && merged[order: Wish.self].size == 3)
        #expect(merged[Loyal.self]?.value == 1)
        #expect(own.over(HTTPRequest.Parts())[order: Wish.self].colour == "red")
        #expect(HTTPRequest.Parts().over(base)[order: Wish.self].colour == "blue")
    }

    @Test("The identity consists of the identities of all parts, in an order that does not depend on theirs")
    func identity() throws {
        var other = HTTPRequest.Parts()
        other[Traveller.self] = Traveller(place: "home")
        other[Local.self] = local
        #expect(try request.parts.identity() == ["home", "local"] && other.identity() == ["home", "local"])
        #expect(try request.parts.identity(without: Traveller.self) == ["local"])
    }

    @Test("An app's sensitive option stays inside the origin, unless the code that changed the origin has set it")
    func options() throws {
        enum Secret: HTTPRequest.Option {
            static let defaultValue = ""
            static let isSensitive = true
        }
        enum Plain: HTTPRequest.Option { static let defaultValue = "" }
        var request = try request
        request[option: Secret.self] = "s"
        request[option: Plain.self] = "p"
        var moved = request
        moved.url = try #require(URL(string: "https://b.example/x"))
        let there = moved.leavingOrigin(of: request)
        #expect(there[option: Secret.self] == "" && there[option: Plain.self] == "p")
        moved[option: Secret.self] = "for b"
        #expect(moved.leavingOrigin(of: request)[option: Secret.self] == "for b")
    }

    @Test("A converter's default Accept does not restrict the response, even in a request that an adapter creates")
    func defaultAccept() async throws {
        let stub = StubTransport { _ in
            StubResponse(.ok, headers: [.contentType: "text/plain"], body: Data(#"{"id":"7"}"#.utf8))
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([
                AdHocAdapter { request, _ in
                    var new = HTTPRequest(.get, request.url, headers: request.headers)
                    new.options = request.options
                    request = new
                }
            ])
        }
        let user: User = try await service.request(.get("x"))
        #expect(user == User(id: "7"))
    }
}
