import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("What the library attaches to a request")
struct AttachmentTests {
    private final class One: HTTPRequest.Attachment { static var isSensitive: Bool { false } }
    private final class Two: HTTPRequest.Attachment { static var isSensitive: Bool { true } }
    private final class Three: HTTPRequest.Attachment { static var isSensitive: Bool { false } }
    private final class Four: HTTPRequest.Attachment { static var isSensitive: Bool { true } }
    private final class Five: HTTPRequest.Attachment { static var isSensitive: Bool { false } }

    private let one = One()
    private let two = Two()
    private let three = Three()
    private let four = Four()
    private let five = Five()

    /// Options with an object of each type.
    private var full: HTTPRequest.Options {
        var options = HTTPRequest.Options()
        options[attachment: One.self] = one
        options[attachment: Two.self] = two
        options[attachment: Three.self] = three
        options[attachment: Four.self] = four
        options[attachment: Five.self] = five
        return options
    }

    private func kept(_ options: HTTPRequest.Options) -> [Bool] {
        [
            options[attachment: One.self] === one, options[attachment: Two.self] === two,
            options[attachment: Three.self] === three, options[attachment: Four.self] === four,
            options[attachment: Five.self] === five,
        ]
    }

    @Test("Each of five objects is found by its type; a request without objects has none")
    func find() {
        #expect(kept(full) == [true, true, true, true, true])
        #expect(HTTPRequest.Options()[attachment: One.self] == nil)
        #expect(HTTPRequest.Options()[attachment: Five.self] == nil)
    }

    @Test("A new object replaces the object of its type, and no other; nil removes it")
    func replace() {
        var options = full
        let (first, last) = (One(), Five())
        options[attachment: One.self] = first
        options[attachment: Five.self] = last
        #expect(kept(options) == [false, true, true, true, false])
        #expect(options[attachment: One.self] === first)
        #expect(options[attachment: Five.self] === last)
        options[attachment: One.self] = nil
        options[attachment: Five.self] = nil
        #expect(options[attachment: One.self] == nil)
        #expect(options[attachment: Five.self] == nil)
        #expect(kept(options) == [false, true, true, true, false])
        options[attachment: Five.self] = five
        #expect(kept(options) == [false, true, true, true, true])
    }

    @Test("Only the objects that are related to credentials are removed on the way to another origin")
    func sensitive() {
        var options = full
        options.removeSensitive()
        #expect(options[attachment: Two.self] == nil)
        #expect(options[attachment: Four.self] == nil)
        #expect(kept(options) == [true, false, true, false, true])
    }

    @Test("A change of a copy does not change the original")
    func copies() {
        let original = full
        var copy = original
        copy[attachment: Two.self] = nil
        copy[attachment: Four.self] = nil
        #expect(kept(original) == [true, true, true, true, true])
        #expect(kept(copy) == [true, false, true, false, true])
    }

    @Test("Options over others keep their own objects, and take the objects of the other types")
    func merge() {
        var own = HTTPRequest.Options()
        let (second, fifth) = (Two(), Five())
        own[attachment: Two.self] = second
        own[attachment: Five.self] = fifth
        let merged = own.over(full)
        #expect(kept(merged) == [true, false, true, true, false])
        #expect(merged[attachment: Two.self] === second)
        #expect(merged[attachment: Five.self] === fifth)
        #expect(kept(full.over(HTTPRequest.Options())) == [true, true, true, true, true])
        #expect(kept(HTTPRequest.Options().over(full)) == [true, true, true, true, true])
    }

    @Test("The mark of a default Accept is part of the options, for a request that an adapter or a handler creates")
    func defaultAccept() async throws {
        let stub = StubTransport { _ in
            StubResponse(.ok, headers: [.contentType: "text/plain"], body: Data(#"{"id":"7"}"#.utf8))
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([
                ClosureAdapter { request, _ in
                    var new = HTTPRequest(.get, request.url, headers: request.headers)
                    new.options = request.options
                    request = new
                }
            ])
        }
        let user: User = try await service.request(.get("x"))
        #expect(user == User(id: "7"))

        var (old, new) = (HTTPRequest.Options(), HTTPRequest.Options())
        old.defaultAccept = "application/json"
        #expect(new.over(old).defaultAccept == "application/json")
        new.defaultAccept = "image/png"
        #expect(new.over(old).defaultAccept == "image/png")
    }
}
