import Foundation
import Networking
import NetworkingTesting
import Testing

/// The examples of NerdzNetworking's documentation. The number after a name is the number of lines there.
@Suite("The examples of NerdzNetworking's documentation", .endsInTime)
struct NerdzNetworkingExampleTests {
    struct Item: Codable, Equatable, Sendable { let id: Int }
    struct ShopError: Codable, Equatable, Sendable { let code: Int }

    private let stub = StubTransport()

    private var api: NetworkService {
        let transport = stub
        return NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.clock = Fixture.stillClock
        }
    }

    // example.request 10
    struct MyRequest: TypedEndpoint {
        typealias ResponseValue = Item
        typealias ServerError = ShopError
        let path: EndpointPath = "my/path"
        let method = HTTPMethod.post
        let query: URLQuery = ["key": "value"]
        let body = HTTPBody.json(["key": "value"])
        let headers: HTTPHeaders = ["X-Key": "value"]
        let settings = RequestSettings { $0.timeouts.total = .seconds(60) }
    }
    // example.end

    // example.converters 12
    struct Converted: TypedEndpoint {
        typealias ResponseValue = Item
        typealias ServerError = ShopError
        let path: EndpointPath = "converted"
        func converter(decoder: any BodyDecoder) -> ResponseConverter<Item> {
            .transformingJSON({ $0["items"]?[0] }, .json())
        }
        func errorConverter(decoder: any BodyDecoder) -> ResponseConverter<ShopError> {
            .transformingJSON({ $0["errors"]?[0] }, .json())
        }
    }
    // example.end

    // example.keyPath 8
    struct Nested: TypedEndpoint {
        typealias ResponseValue = Item
        typealias ServerError = ShopError
        let path: EndpointPath = "nested"
        func converter(decoder: any BodyDecoder) -> ResponseConverter<Item> { .keyPath("path.item", .json()) }
        func errorConverter(decoder: any BodyDecoder) -> ResponseConverter<ShopError> { .keyPath("error", .json()) }
    }
    // example.end

    @Test("A typed request and a ready-made one have a query, a body, fields and a time limit")
    func requests() async throws {
        stub.on(nil, nil, .json(text: #"{"id":7}"#), .json(text: #"{"code":3}"#, status: .conflict))
        let api = api
        let item = try await api.request(MyRequest())
        #expect(item == Item(id: 7))
        // example.defaultRequest 10
        let request = AdHocEndpoint(.post, "my/path").query(["key": "value"])
            .body(.json(["key": "value"])).header("X-Key", "value")
            .settings { $0.timeouts.total = .seconds(60) }.failing(as: ShopError.self)
        // example.end
        let failure = await #expect(throws: ServerFailure<ShopError>.self) { try await api.request(request) }
        #expect(failure?.serverError == ShopError(code: 3))
        let (first, second) = (stub.requests[0], stub.requests[1])
        #expect(first.url == second.url && first.body.data == second.body.data)
        #expect(first.headers["X-Key"] == second.headers["X-Key"])
        #expect(first.timeouts.total == .seconds(60) && second.timeouts.total == .seconds(60))
    }

    @Test("A form has files from data, from a URL and from an input stream")
    func multipart() async throws {
        stub.on(nil, nil, .status(.ok))
        let folder = try TemporaryFolder()
        let (file, data) = (folder.url.appendingPathComponent("song.mp3"), Data("png".utf8))
        try Data("song".utf8).write(to: file)
        // example.multipart 7
        let stream = HTTPBody.stream(length: 6) { InputStream(data: Data("stream".utf8)) }
        let form = HTTPBody.multipart([
            .data("files", data, fileName: "avatar1", contentType: .png), .file("files", at: file),
            HTTPBody.Part("files", fileName: "stream.bin", body: stream),
        ])
        // example.end
        try await api.request(.post("files").body(form))
        let body = try await #require(stub.requests.last).body.collected().data
        let text = String(decoding: try #require(body), as: UTF8.self)
        #expect(text.contains("filename=\"avatar1\"\r\nContent-Type: image/png\r\n\r\npng\r\n"))
        #expect(text.contains("filename=\"song.mp3\"") && text.contains("\r\n\r\nsong\r\n"))
        #expect(text.contains("filename=\"stream.bin\"") && text.contains("\r\n\r\nstream\r\n"))
    }

    @Test("A task has closures for its start, its progress, its value, its error and its report")
    func executing() async throws {
        stub.on(nil, nil, .json(text: #"{"id":7}"#))
        let (api, queue) = (api, DispatchQueue(label: "callbacks"))
        let heard = Box<[String]>([])
        let show: @Sendable (String) -> Void = { text in heard.change { $0.append(text) } }
        // example.execution 18
        let task = api.task(MyRequest(), with: RequestSettings { $0.retry = .never })
        task.onStart(on: queue) { show("start") }
            .onSuccess(on: queue) { item in show("item \(item.id)") }
            .onFailure(on: queue) { error in show("\(error)") }
            .onCompletion(on: queue) { _ in show("end") }
        // example.end
        _ = try await task.value
        while heard.value.count < 3 { await Task.yield() }
        #expect(heard.value == ["start", "item 7", "end"])
        // example.curl 1
        let line = stub.requests[0].curlCommand()
        // example.end
        #expect(line.hasPrefix("curl") && line.contains("my/path"))
    }

    @Test("Values and errors are read at a path, by a closure, or by an own converter")
    func reading() async throws {
        stub.on(
            nil, "/v1/nested", .json(text: #"{"path":{"item":{"id":1}}}"#),
            .json(text: #"{"error":{"code":2}}"#, status: .conflict))
        stub.on(
            nil, "/v1/converted", .json(text: #"{"items":[{"id":3}]}"#),
            .json(text: #"{"errors":[{"code":4}]}"#, status: .conflict))
        stub.on(nil, "/v1/plain", .text("5"))
        let api = api
        #expect(try await api.request(Nested()) == Item(id: 1))
        let nested = await #expect(throws: ServerFailure<ShopError>.self) { try await api.request(Nested()) }
        #expect(nested?.serverError == ShopError(code: 2))
        #expect(try await api.request(Converted()) == Item(id: 3))
        let converted = await #expect(throws: ServerFailure<ShopError>.self) { try await api.request(Converted()) }
        #expect(converted?.serverError == ShopError(code: 4))
        // example.ownConverter 5
        let own = ResponseConverter.string.map { text in Item(id: Int(text) ?? 0) }
        // example.end
        #expect(try await api.request(.get("plain"), as: own) == Item(id: 5))
    }
}
