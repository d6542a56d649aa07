// The tests run the Swift blocks of Recipes.md. `DocumentationTests` checks that both texts are the same.

import Foundation
import Networking
import NetworkingTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// snippet.upload
func upload(
    _ photo: URL, with service: NetworkService,
    show: @escaping @Sendable (Double) -> Void
) async throws {
    let form = HTTPBody.multipart([
        .field("album", "holidays"), .file("photo", at: photo),
    ])
    let task = service.task(.post("photos").body(form), as: .void)
    // The loop ends when the call ends.
    for await progress in task.progressValues {
        show(progress.upload.fraction ?? 0)
    }
    try await task.value
}
// snippet.end

// snippet.resume
func download(_ film: URL, with service: NetworkService) async throws {
    let converter = ResponseConverter.file(
        at: film, overwriting: .replace, resuming: .sameAddress)
    // Bytes that were received before the app ended are not requested again.
    _ = try await service.request(.get("film"), as: converter)
}
// snippet.end

// snippet.search
func search(_ text: String, with service: NetworkService) async throws
    -> [String]
{
    try await service.request(
        .get("search").query("q", text).settings {
            // All searches are duplicates, even if their text differs.
            $0.duplicateGroup = "search"
            // A new search ends the previous one with `.cancelled`.
            $0.duplicates = .always(.replace)
        })
}
// snippet.end

// snippet.poll
func waitForExport(
    _ id: Int, with service: NetworkService
) async throws -> URL {
    struct NotReady: Error {}
    let ready = ResponseConverter<URL> { response in
        guard response.status == .ok else { throw NotReady() }  // 202: not yet
        return try response.read(as: .json(URL.self))
    }
    var polling = RequestSettings {
        $0.timeouts.total = .seconds(120)
        $0.maximumAttempts = 20
    }
    polling.retry = RetryPolicy(
        retries: 19, backoff: .exponential(first: .seconds(1)),
        on: .error(NotReady.self))
    return try await service.request(
        .get("exports/\(id)"), as: ready, with: polling)
}
// snippet.end

// snippet.events
func follow(_ service: NetworkService, show: (String) -> Void) async throws {
    // Reconnects if the connection is lost.
    for try await event in service.events(.get("news")) {
        show(event.data)
        if event.type == "over" { break }  // closes the connection
    }
}
// snippet.end

// snippet.problem
struct Refused: Error, Equatable {
    let title: String
}

struct Order: Endpoint {
    let path: EndpointPath = "orders"
    let method = HTTPMethod.post

    func error(for problem: ProblemDetails) -> (any Error)? {
        problem.type == "https://example.com/out-of-stock"
            ? Refused(title: problem.title ?? "") : nil
    }
}
// snippet.end

// snippet.pages
struct Page: Decodable, Sendable {
    let items: [String]
    let next: Int?
}

func allItems(_ service: NetworkService) async throws -> [String] {
    var all: [String] = []
    let first = AdHocEndpoint.get("items").query("page", 1)
    // `page` has the value and the response; `call` is the call of this page.
    let pages = service.pages(first, as: .json(Page.self)) { page, call in
        page.value.next.map { call.query("page", $0) }  // nil ends the pages
    }
    // Each page is requested when the loop needs it.
    for try await page in pages { all += page.items }
    return all
}
// snippet.end

extension Loopback {
    @Suite("Recipes for calls and transfers")
    struct TransferRecipeTests {
        private let stub = StubTransport()
        private let api = NetworkEnvironment(baseURL: URL(string: "https://api.example.com"))

        @Test("Upload with a progress bar; resume a download")
        func transfers() async throws {
            let scratch = try Scratch()
            let photo = scratch.file("photo.jpg")
            try Data(repeating: 7, count: 100_000).write(to: photo)
            let server = try LoopbackServer()
            server.route(.post, "/photos") { request in
                _ = try await request.data()
                return LoopbackResponse(.noContent)
            }
            server.route(.get, "/film") { .content(Data(repeating: 9, count: 100_000), tag: "\"1\"", for: $0) }
            let service = NetworkService(environment: NetworkEnvironment(baseURL: server.url))
            let last = Box(0.0)
            try await upload(photo, with: service) { fraction in last.change { $0 = fraction } }
            #expect(last.value == 1)
            try await download(scratch.file("film"), with: service)
            #expect(try Data(contentsOf: scratch.file("film")).count == 100_000)
        }

        @Test("Search as you type")
        func typing() async throws {
            stub.on(.get, "/search") { request in
                if request.url.query == "q=s" { try await Task.sleep(for: .seconds(30)) }
                return .json([request.url.query ?? ""])
            }
            let service = NetworkService(environment: api) { $0.transport = stub }
            async let early = search("s", with: service)
            while stub.requests.isEmpty { await Task.yield() }
            #expect(try await search("sw", with: service) == ["q=sw"])
            do {
                _ = try await early
                #expect(Bool(false), "the second search did not replace the first search")
            } catch { #expect(error as? GeneralRequestError == .cancelled) }
        }

        @Test("Poll with back-off")
        func polling() async throws {
            let clock = ManualClock()
            stub.on(.get, "/exports/7", .status(.accepted), .status(.accepted), .json("https://files.example.com/7"))
            let service = NetworkService(environment: api) {
                $0.transport = stub
                $0.clock = clock.networkClock
            }
            async let url = waitForExport(7, with: service)
            for _ in 0..<2 {
                await clock.waitForSleepers(2)
                clock.advance(by: .seconds(2))
            }
            #expect(try await url.absoluteString == "https://files.example.com/7")
        }

        @Test("Problem details")
        func problem() async throws {
            let body = #"{"type":"https://example.com/out-of-stock","title":"Sold out"}"#
            stub.on(
                .post, "/orders",
                StubResponse(.conflict, headers: [.contentType: "application/problem+json"], body: Data(body.utf8)))
            let service = NetworkService(environment: api) { $0.transport = stub }
            await #expect(throws: Refused(title: "Sold out")) { try await service.request(Order()) }
        }

        @Test("Paginate as an async sequence")
        func paging() async throws {
            stub.on(
                .get, "/items", .json(text: #"{"items":["a","b"],"next":2}"#),
                .json(text: #"{"items":["c"],"next":null}"#))
            let service = NetworkService(environment: api) { $0.transport = stub }
            let all = try await allItems(service)
            #expect(all == ["a", "b", "c"])
            #expect(stub.requests.map(\.url.query) == ["page=1", "page=2"])
        }

        @Test("Repeat a POST safely; read one part of a response")
        func posting() async throws {
            let (server, keys) = (try LoopbackServer(), Box<[String?]>([]))
            server.route(.post, "/payments") { request in
                keys.change { $0.append(request.headers[.idempotencyKey]) }
                return keys.value.count < 2 ? LoopbackResponse(.serviceUnavailable) : .text(#"{"data":{"id":"p1"}}"#)
            }
            let api = NetworkEnvironment(baseURL: server.url)
            // snippet.idempotent
            let service = NetworkService(environment: api) { $0.retry = .standard }
            // All attempts have the same key.
            let payment = AdHocEndpoint(.post, "payments").body(.json(["amount": 7]))
                .idempotent()
            let id = try await service.request(
                payment, as: .keyPath("data.id", .json(String.self)))
            // snippet.end
            #expect(id == "p1")
            #expect(keys.value.count == 2 && Set(keys.value).count == 1)
        }
    }
}
