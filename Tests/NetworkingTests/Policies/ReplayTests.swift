import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Replaying HAR files", .endsInTime)
struct ReplayTests {
    private func record(_ redaction: Redaction = .revealed) async throws -> HARArchive {
        let stub = StubTransport()
        stub.on(.get, "/v1/users/7", .status(.serviceUnavailable), .json(text: #"{"id":"7"}"#))
        stub.on(.post, "/v1/users", StubResponse(.found, headers: [.location: "/v1/users/8"]))
        stub.on(.get, "/v1/users/8", StubResponse(.ok, headers: [.contentType: "image/png"], body: Data([0xFF, 0x00])))
        stub.on(.get, "/v1/gone", .failure(.cannotConnect))
        stub.on(.put, "/v1/blob", .status(.noContent))
        let recorder = HARRecorder(redaction: redaction)
        let service = NetworkService(environment: Fixture.environment) {
            $0.retry = RetryPolicy(retries: 1, on: .statuses(.serviceUnavailable))
            $0.transport = stub
            $0.observers = [recorder]
        }
        _ = try await service.request(.get("users/7").query(["b": "2", "a": "1 2"])) as User
        _ = try await service.request(.post("users").body(.json(["name": "Ada"]))) as Data
        _ = await Fixture.failure { try await service.request(.get("gone")) }
        try await service.request(
            .put("blob").body(.multipart([.data("f", Data([0xFE]), fileName: "f")], boundary: "b")))
        return recorder.archive
    }

    @Test("A strict replay returns each recorded response once; the error for an unrecorded call names that call")
    func strict() async throws {
        let replay = ReplayTransport(try await record())
        let service = NetworkService(environment: Fixture.environment) {
            $0.retry = RetryPolicy(retries: 1, on: .statuses(.serviceUnavailable))
            $0.transport = replay
        }
        #expect(try await service.request(.get("users/7").query(["a": "1 2", "b": "2"])) as User == User(id: "7"))
        let other =
            await Fixture.failure {
                try await service.request(.post("users").body(.json(["name": "Eve"])))
            } as? NetworkError
        #expect(
            other?.description.hasPrefix(
                "POST api.example.com/v1/users: none of the 4 unused responses of the archive matches") == true)
        #expect(try await service.request(.post("users").body(.json(["name": "Ada"]))) as Data == Data([0xFF, 0x00]))
        try await service.request(
            .put("blob").body(.multipart([.data("f", Data([0xFE]), fileName: "f")], boundary: "b")))
        #expect(
            await Fixture.failure { try await service.request(.get("gone")) } as? GeneralRequestError == .cannotConnect)
        #expect(replay.unused.isEmpty)
        #expect(await Fixture.failure { try await service.request(.get("users/8")) } != nil)
    }

    @Test("A lenient replay matches method and path, prefers the same query, and repeats the last response")
    func lenient() async throws {
        let archive = HARArchive(
            entries: try await record().log.entries.filter { $0.response.status == 200 })
        let environment = NetworkEnvironment(baseURL: URL(string: "http://localhost:9/v1"))
        let service = NetworkService(environment: environment) {
            $0.transport = ReplayTransport(archive, matching: .lenient)
        }
        for _ in 0..<3 { #expect(try await service.request(.get("users/7").query("z", 1)) as User == User(id: "7")) }
        #expect(await Fixture.failure { try await service.request(.delete("users/7")) } != nil)
    }

    @Test("A replay ignores the boundary of a form and hidden form fields, and keeps a byte order mark")
    func replayBodies() async throws {
        let mark = Data([0xEF, 0xBB, 0xBF, 0x61])
        let stub = StubTransport { request in
            let isForm = request.url.lastPathComponent == "form"
            return StubResponse(.ok, headers: [.contentType: "text/plain"], body: isForm ? Data() : mark)
        }
        func calls(_ service: NetworkService) async throws -> Data? {
            _ = try await service.request(.post("form").body(.form(["a": "secret", "b": "2"]))) as Data
            return try? await service.request(.post("parts").body(.multipart([.field("a", "1")])), as: .data)
        }
        for redaction in [Redaction.revealed, .standard.allowing(fields: ["b"])] {
            let recorder = HARRecorder(redaction: redaction)
            _ = try await calls(
                NetworkService(environment: Fixture.environment) {
                    $0.transport = stub
                    $0.observers = [recorder]
                })
            let replay = ReplayTransport(recorder.archive)
            let data = try await calls(NetworkService(environment: Fixture.environment) { $0.transport = replay })
            #expect(data == (redaction.showsBodies ? mark : nil), "a hidden body is not replayed")
        }
        let request = HTTPRequest(.post, try #require(URL(string: "http://h.example")), body: .data(mark))
        #expect(request.curlCommand(redaction: .revealed).contains(#"printf '\357\273\277a'"#))
    }

    @Test("The requests of a redirect chain have consecutive times that do not overlap")
    func hops() throws {
        let url = try #require(URL(string: "https://h.example/"))
        let request = HTTPRequest(.get, url)
        let hop = HTTPResponse(.found, to: request, timing: HTTPResponse.Timing(total: .seconds(5)))
        let last = HTTPResponse(
            .ok, to: request, timing: HTTPResponse.Timing(firstByte: .seconds(1), total: .seconds(1))
        )
        .reached(by: [hop])
        let attempt = RequestAttempt(
            number: 1, request: request, response: last, error: nil, queued: .zero, duration: .seconds(6))
        let report = CallReport(
            of: nil, date: Date(timeIntervalSince1970: 0), last: attempt, duration: .seconds(6))
        let entries = HARArchive.entries(of: report, redaction: .standard)
        #expect(entries.map(\.time) == [5_000, 1_000])
        #expect(entries.map(\.startedDateTime) == ["1970-01-01T00:00:00.000Z", "1970-01-01T00:00:05.000Z"])
    }

    @Test("The replay of a failed call throws the recorded error; a hidden body is not replayed")
    func replayFailures() async throws {
        for (answer, kind) in [
            (StubResponse.failure(.truncatedBody), NetworkError.Kind.truncatedBody),
            (.failure(.tlsUntrusted), .tlsUntrusted),
        ] {
            let archive = try await recorded(answer, .revealed)
            #expect(await replayed(archive).1?.kind == kind)
        }
        #expect(try await replayed(recorded(.text("hello"), .revealed)).0 == "hello")
        let hidden = try await replayed(recorded(.text("hello"), .standard))
        #expect(hidden.0 == nil && hidden.1?.kind == .noRecordedResponse)
        #expect(hidden.1?.reason?.contains("Redaction.revealed") == true)
    }

    private func recorded(_ answer: StubResponse, _ redaction: Redaction) async throws -> HARArchive {
        let recorder = HARRecorder(redaction: redaction)
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in answer }
            $0.observers = [recorder]
        }
        _ = await Fixture.failure { try await service.request(.get("a")) }
        while recorder.archive.log.entries.isEmpty { await Task.yield() }
        return recorder.archive
    }

    private func replayed(_ archive: HARArchive) async -> (String?, NetworkError?) {
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = ReplayTransport(archive)
            $0.errorMapping = .unmapped
        }
        do { return (try await service.request(.get("a"), as: .string), nil) } catch {
            return (nil, error as? NetworkError)
        }
    }

    @Test("A redacted archive can be replayed, and a hidden value matches any value")
    func replayRedacted() async throws {
        let archive = try await record(.standard)
        let service = NetworkService(environment: Fixture.environment) { $0.transport = ReplayTransport(archive) }
        let error =
            await Fixture.failure {
                try await service.request(.get("users/7").query(["a": "other", "b": "more"]))
            } as? NetworkError
        #expect(error?.status == .serviceUnavailable)
        let missing =
            await Fixture.failure { try await service.request(.get("users/7").query("a", 1)) } as? NetworkError
        #expect(missing?.kind == .noRecordedResponse)
    }
}
