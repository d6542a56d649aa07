import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Streams that are complete or an error", .endsInTime)
struct CompleteStreamTests {
    private struct Delta: Decodable, Sendable, Equatable {
        let text: String
        var done: Bool?
    }

    private struct ModelError: Error, Decodable, Equatable {
        let error: String
    }

    private let stub = StubTransport()
    private let clock = ManualClock()

    private var service: NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.clock = clock.networkClock
        }
    }

    /// Reads a stream, and returns the texts of its elements and the error with which it ends.
    private func read(
        _ body: String, as converter: ResponseConverter<BodySequence<Delta>>, type: String = "text/event-stream"
    ) async throws -> (texts: [String], error: (any Error)?) {
        stub.on(nil, nil, StubResponse(.ok, headers: [.contentType: type], body: Data(body.utf8)))
        var texts: [String] = []
        do {
            for try await delta in try await service.request(.get("stream"), as: converter) { texts.append(delta.text) }
        } catch { return (texts, error) }
        return (texts, nil)
    }

    private static func event(_ text: String, _ type: String? = nil) -> String {
        (type.map { "event: \($0)\n" } ?? "") + "data: \(text)\n\n"
    }

    private static let two = event(#"{"text":"a"}"#) + event(#"{"text":"b"}"#)

    @Test("An event stream that ends before its terminator is truncated, and the error says after how many elements")
    func truncated() async throws {
        let (texts, error) = try await read(Self.two, as: .events(endingWith: "[DONE]"))
        let known = try #require(error as? NetworkError)
        #expect(texts == ["a", "b"] && known.kind == .truncatedBody)
        #expect(known.reason == "the body ended after 2 elements; expected the end \"[DONE]\"")
        let empty = try await read("", as: .events(endingWith: .type("stop")))
        #expect((empty.error as? NetworkError)?.reason?.contains("after 0 elements") == true)
    }

    @Test("The terminator ends the loop, and is no element", arguments: ["text", "type", "element"])
    func complete(form: String) async throws {
        let converter: ResponseConverter<BodySequence<Delta>> =
            switch form {
            case "text": .events(endingWith: "[DONE]")
            case "type": .events(endingWith: .type("message_stop"))
            default: .events(endingWith: .element { $0.done == true })
            }
        let last =
            switch form {
            case "text": Self.event("[DONE]")
            case "type": Self.event("{}", "message_stop")
            default: Self.event(#"{"text":"c","done":true}"#)
            }
        let (texts, error) = try await read(Self.two + last + Self.event(#"{"text":"late"}"#), as: converter)
        #expect(error == nil && texts == ["a", "b"] + (form == "element" ? ["c"] : []))
    }

    @Test("An event that the rule names as an error ends the stream with the server's typed error")
    func failures() async throws {
        let failing = Self.two + Self.event(#"{"error":"overloaded"}"#, "error") + Self.event("[DONE]")
        let (texts, error) = try await read(
            failing, as: .events(endingWith: "[DONE]", failingOn: .type("error", as: ModelError.self)))
        #expect(texts == ["a", "b"] && error as? ModelError == ModelError(error: "overloaded"))
        let untyped = Self.two + Self.event(#"{"error":"overloaded"}"#)
        let any = try await read(untyped, as: .events(failingOn: .any(ModelError.self)))
        #expect(any.texts == ["a", "b"] && any.error as? ModelError == ModelError(error: "overloaded"))
    }

    @Test("An error event that cannot be read is an error that says so, and not an element")
    func unreadableFailure() async throws {
        let (texts, error) = try await read(
            Self.event(#"{"text":"a"}"#) + Self.event("<html>", "error"),
            as: .events(failingOn: .type("error", as: ModelError.self)))
        let known = try #require(error as? NetworkError)
        #expect(texts == ["a"] && known.kind == .undecodableBody)
        #expect(known.reason == "event 2: the error of the server cannot be read")
    }

    @Test("Only the named events are values; an event that is no value of the type is an error with its number")
    func names() async throws {
        let mixed = Self.event("{}", "ping") + Self.event(#"{"text":"a"}"#, "delta") + Self.event("{}", "stop")
        let named = try await read(mixed, as: .events(named: ["delta"], endingWith: .type("stop")))
        #expect(named.texts == ["a"] && named.error == nil)
        let all = try await read(mixed, as: .events())
        #expect((all.error as? NetworkError)?.reason?.hasPrefix("event 1: \"text\" is missing") == true)
    }

    @Test("JSON lines have the same terminators and errors, and blank lines count for nothing")
    func lines() async throws {
        let type = "application/x-ndjson"
        let body = "{\"text\":\"a\"}\n\n{\"text\":\"b\",\"done\":true}\n"
        let complete = try await read(body, as: .jsonLines(endingWith: .element { $0.done == true }), type: type)
        #expect(complete.texts == ["a", "b"] && complete.error == nil)
        let cut = try await read(body, as: .jsonLines(endingWith: "END"), type: type)
        #expect((cut.error as? NetworkError)?.kind == .truncatedBody && cut.texts == ["a", "b"])
        let failed = try await read(
            "{\"text\":\"a\"}\n{\"error\":\"full\"}\n", as: .jsonLines(failingOn: .any(ModelError.self)), type: type)
        #expect(failed.texts == ["a"] && failed.error as? ModelError == ModelError(error: "full"))
    }

    @Test("A page in place of an event stream is an error before the first element")
    func page() async throws {
        let (texts, error) = try await read("<html>", as: .events(endingWith: "[DONE]"), type: "text/html")
        #expect(texts == [] && error != nil)
    }

    @Test("A server cannot bring control characters into an error by a terminator or an error event")
    func controls() async throws {
        let (_, error) = try await read(
            Self.event("\u{1B}[31m", "error"), as: .events(failingOn: .type("error", as: ModelError.self)))
        #expect(!"\(try #require(error))".unicodeScalars.contains("\u{1B}"))
    }

    @Test("The texts of the elements are joined up to a limit, and an error of the stream is the error of the text")
    func joined() async throws {
        stub.on(
            nil, nil,
            StubResponse(.ok, headers: [.contentType: "text/event-stream"], body: Data(Self.two.utf8)))
        let text = try await service.request(.get("x"), as: .events(Delta.self)).joined(\.text)
        #expect(text == "ab")
        let long = await Fixture.failure {
            _ = try await service.request(.get("x"), as: .events(Delta.self)).joined(upTo: 1, \.text)
        }
        #expect((long as? NetworkError)?.kind == .responseTooLarge)
        let cut = await Fixture.failure {
            _ = try await service.request(.get("x"), as: .events(Delta.self, endingWith: "[DONE]")).joined(\.text)
        }
        #expect((cut as? NetworkError)?.kind == .truncatedBody)
    }

    /// A transport whose body is written by the test.
    private struct PipeTransport: Transport {
        let pipe: BytePipe

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            HTTPResponse(
                .ok, headers: [.contentType: "text/event-stream"], content: .stream(IncomingBody(pipe, of: request)),
                to: request)
        }
    }

    @Test("The first element and each further one have their own limits, and comments do not count")
    func timeLimits() async throws {
        let pipe = BytePipe(capacity: 64 << 10)
        let service = NetworkService(environment: Fixture.environment) { $0.transport = PipeTransport(pipe: pipe) }
        let clock = clock
        let stream = try await service.request(.get("x"), as: .events(Delta.self))
            .timingOut(first: .seconds(60), between: .seconds(5), clock: clock.networkClock)
        let texts = Box<[String]>([])
        let reading = Task { for try await delta in stream { texts.change { $0.append(delta.text) } } }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(59))
        _ = pipe.write(Data(Self.event(#"{"text":"a"}"#).utf8))
        while texts.value.isEmpty { await Task.yield() }
        #expect(await clock.advanceToNextSleeper() == .seconds(5))
        let error = await Fixture.failure { try await reading.value } as? NetworkError
        #expect(texts.value == ["a"] && error?.kind == .idleTimedOut)
        #expect(error?.reason == "no further element within 5 s")
    }

    @Test("Without an element in time, the loop ends, also if comments arrive", arguments: [true, false])
    func nothing(sendsComments: Bool) async throws {
        let pipe = BytePipe(capacity: 64 << 10)
        if sendsComments { _ = pipe.write(Data(": still here\n\n".utf8)) }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = PipeTransport(pipe: pipe) }
        let clock = clock
        let reading = Task {
            for try await _ in try await service.request(.get("x"), as: .serverSentEvents)
                .timingOut(first: .seconds(9), clock: clock.networkClock)
            {}
        }
        #expect(await clock.advanceToNextSleeper() == .seconds(9))
        let error = await Fixture.failure { try await reading.value }
        #expect((error as? NetworkError)?.reason == "no first element within 9 s")
    }

    @Test("A limit of zero or less, and one of centuries, do not trap")
    func badLimits() async throws {
        for limit in [Duration.zero, .seconds(-1), .seconds(Int64.min), .seconds(Int64.max)] {
            stub.on(
                nil, nil, StubResponse(.ok, headers: [.contentType: "text/event-stream"], body: Data(Self.two.utf8)))
            let stream = try await service.request(.get("x"), as: .events(Delta.self))
                .timingOut(first: limit, between: limit, clock: clock.networkClock)
            var count = 0
            let error = await Fixture.failure { for try await _ in stream { count += 1 } }
            #expect(error == nil ? count == 2 : (error as? NetworkError)?.kind == .idleTimedOut)
            if limit > .zero { #expect(error == nil) }
        }
    }

    @Test("Cancelling the loop is a cancellation, and not a limit that has passed")
    func cancelled() async throws {
        let pipe = BytePipe(capacity: 64 << 10)
        let service = NetworkService(environment: Fixture.environment) { $0.transport = PipeTransport(pipe: pipe) }
        let clock = clock
        let reading = Task {
            for try await _ in try await service.request(.get("x"), as: .serverSentEvents)
                .timingOut(first: .seconds(9), clock: clock.networkClock)
            {}
        }
        await clock.waitForSleepers()
        reading.cancel()
        let error = await Fixture.failure { try await reading.value }
        #expect((error as? NetworkError)?.kind == .cancelled || (error as? GeneralRequestError) == .cancelled)
    }
}
