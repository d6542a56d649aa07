import Foundation
import Networking
import NetworkingTesting
import Testing

/// The examples of iONess's documentation. The number after a name is the number of lines there.
@Suite("The examples of iONess's documentation", .endsInTime)
struct IONessExampleTests {
    struct Item: Codable, Equatable, Sendable { let id: Int }

    private let stub = StubTransport()
    private let url = "https://a.example/v1/items"

    private var api: NetworkService {
        let transport = stub
        return NetworkService(environment: Fixture.environment) { $0.transport = transport }
    }

    @Test("A call runs with closures, also without one, and then, handle and finally are closures of its task")
    func basic() async throws {
        stub.on(nil, nil, .json(text: #"{"id":7}"#))
        let heard = Box<[String]>([])
        let show: @Sendable (String) -> Void = { text in heard.change { $0.append(text) } }
        // example.basic 6
        let item: Item = try await api.request(.url(url))
        // example.end
        // example.then 9
        let task = api.task(.url(url), as: .json(Item.self))
        task.onSuccess { item in show("item \(item.id)") }
            .onFailure { error in show("\(error)") }
            .onCompletion { _ in show("end") }
        // example.end
        #expect(item == Item(id: 7))
        #expect(try await task.value == item)
        while heard.value.count < 2 { await Task.yield() }
        #expect(heard.value == ["item 7", "end"])
    }

    @Test("A request has a query, header fields and a body, and a custom session and encoder")
    func requests() async throws {
        stub.on(nil, nil, .json(text: #"{"id":7}"#))
        let (token, data, api) = ("t", Data([1]), api)
        // example.request 4
        let call = AdHocEndpoint(.put, "items").query(["param1": "value1", "param2": "value2"])
            .header("Authorization", token).body(.data(data))
        // example.end
        try await api.request(call)
        let sent = try #require(stub.requests.last)
        #expect(sent.url.query == "param1=value1&param2=value2" && sent.headers["Authorization"] == "t")
        #expect(sent.body.data == data)
        // example.session 8
        let transport = try URLSessionTransport(configuration: .withoutPolicy)
        let service = NetworkService { $0.transport = transport }
        // example.end
        try await NetworkService(client: service.client.with { $0.transport = stub }).request(.url(url))
        // example.encoder 3
        try await api.request(.post("items").body(.encoded(headers: ["X-Rows": "1"]) { Data("a,b".utf8) }))
        // example.end
        #expect(stub.requests.last?.body.data == Data("a,b".utf8))
        #expect(stub.requests.last?.allHeaders["X-Rows"] == "1")
    }

    @Test("A file is downloaded and uploaded by one line each")
    func files() async throws {
        stub.on(nil, nil, .text("content"))
        let folder = try TemporaryFolder()
        let (target, api) = (folder.url.appendingPathComponent("file"), api)
        // example.files 4
        let download = try await api.request(.get("file"), as: .file(at: target))
        try await api.request(.post("file").body(.file(target)))
        // example.end
        #expect(try Data(contentsOf: download) == Data("content".utf8))
        #expect(try await stub.requests.last?.body.collected().data == Data("content".utf8))
    }

    @Test("A closure decodes data, and another one JSON")
    func decoders() async throws {
        stub.on(nil, nil, .json(text: #"{"id":7}"#))
        let api = api
        // example.dataDecoder 6
        let count = ResponseConverter<Int> { $0.data.count }
        // example.end
        // example.jsonDecoder 6
        let id = ResponseConverter.jsonObject.map { object in object["id"] as? Int }
        // example.end
        #expect(try await api.request(.get("items"), as: count) == 8)
        #expect(try await api.request(.get("items"), as: id) == 7)
    }

    fileprivate static let sent = Box(0)

    // example.delegate 4
    struct Delegate: SynchronousRequestAdapter, RequestObserver {
        func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) { request.headers["X-Will"] = "1" }
        func observe(_ event: RequestEvent, of call: RequestEvent.Call) { count(event) }
    }
    // example.end

    @Test("Validators are values, an own one is a closure, and a delegate is an adapter and an observer")
    func judging() async throws {
        stub.on(nil, nil, .json(text: #"{"id":7}"#))
        let transport = stub
        // example.validators 4
        let strict = RequestSettings {
            $0.validators = [.status(0..<300), .headers { $0["Content-Type"] == "text/plain" }]
        }
        // example.end
        let api = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.requestAdaptingService = RequestAdaptingService([Delegate()])
            $0.observers = [Delegate()]
        }
        await #expect(throws: NetworkError.self) { try await api.request(.get("items"), with: strict) }
        #expect(stub.requests.last?.headers["X-Will"] == "1")
        #expect(Self.sent.value == 1)
    }

    @Test("A failed call is retried three times, and duplicates are handled by one line")
    func retrying() async throws {
        stub.on(.get, nil, .status(.badGateway))
        stub.on(.head, nil, .status(.ok))
        let clock = ManualClock()
        let transport = stub
        let api = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.clock = clock.networkClock
        }
        // example.retry 6
        let call = AdHocEndpoint.get("items").settings {
            $0.retry = RetryPolicy(retries: 3, backoff: .constant(.seconds(1)), on: .any)
        }
        // example.end
        let task = api.task(call, as: .void)
        try await clock.advance(by: .seconds(1)) { task.result != nil }
        #expect(stub.requests.count == 4)
        // example.duplicates 1
        let joined = NetworkService(client: api.client.with { $0.duplicates = .always(.join) })
        // example.end
        try await joined.request(.head("items"))
        #expect(stub.requests.count == 5)
    }
}

extension IONessExampleTests.Delegate {
    fileprivate func count(_ event: RequestEvent) {
        if case .attemptStarted = event { IONessExampleTests.sent.change { $0 += 1 } }
    }
}
