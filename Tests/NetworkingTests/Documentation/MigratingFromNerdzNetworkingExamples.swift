// The Swift blocks of MigratingFromNerdzNetworking.md, unchanged. `DocumentationTests` compares them with the article.

import Foundation
import Networking

private enum NerdzNetworkingGuide {
    struct Item: Codable, Sendable {
        let id: Int
    }

    // snippet.client
    final class ShopService: NetworkService, @unchecked Sendable {
        static func make(_ api: URL, _ session: AccessTokenSupervisor?)
            -> ShopService
        {
            ShopService(
                environment: NetworkEnvironment(
                    baseURL: api, headers: [.acceptLanguage: "en"]),
                authorizedBy: session
            ) {
                $0.retry = RetryPolicy(retries: 1)
                $0.settings.timeouts.total = .seconds(60)
                $0.settings.decoder = JSONDecoder()
            }
        }
    }
    // snippet.end

    static func headers() {
        // snippet.headers
        let headers: HTTPHeaders = [
            .accept(.json), .contentType(.json), .acceptLanguage(["en"]),
            .authorization(.bearer("token")),
            HTTPHeader("X-Tenant", "acme"),
        ]
        let merged =
            headers + [.authorization(.basic(username: "ada", password: "secret"))]
        let credentials = HTTPAuthorization("Bearer token")  // and back: `fieldValue`
        let type = MediaType("text/html; charset=utf-8")
        let png: MediaType = .png
        // snippet.end
        _ = (headers, merged, credentials, type, png)
    }

    // snippet.typed
    struct ShopError: Decodable, Sendable {
        let message: String
    }

    struct FetchItem: TypedEndpoint {
        typealias ResponseValue = Item
        typealias ServerError = ShopError

        let id: Int
        var path: EndpointPath { "items/\(id)" }
        var query: URLQuery { ["full": true, "page": 2] }  // in this order
        var settings: RequestSettings {
            RequestSettings { $0.timeouts.total = .seconds(5) }
        }

        func errorConverter(
            decoder: any BodyDecoder
        ) -> ResponseConverter<ShopError> {
            .keyPath("error", .json())
        }
    }
    // snippet.end

    static func bodies(_ file: URL, _ open: @escaping @Sendable () throws -> any HTTPBody.Reader) {
        // snippet.bodies
        let bodies: [HTTPBody] = [
            .data(Data([1])), .string("text"), .jsonObject(["a": 1]),
        ]
        let form = HTTPBody.multipart([
            .field("title", "Holidays"), .file("photo", at: file),
            .data("thumbnail", Data([1]), fileName: "small.png", contentType: .png),
            .stream(
                "video", fileName: "video.mp4", length: nil, isReplayable: false,
                open: open),
        ])
        // snippet.end
        _ = (bodies, form)
    }

    static func executing(_ shop: NetworkService) async throws {
        // snippet.executing
        let task = shop.task(
            FetchItem(id: 7), with: RequestSettings { $0.retry = .standard })
        task.onStart { print("started") }
            .onProgress { progress in print(progress.upload.fraction ?? 0) }
            .onAttempt { attempt in print(attempt) }
            .onSuccess(on: DispatchQueue.global()) { item in print(item.id) }
            .onFailure { error in print(error) }
        task.cancel()

        let item = try await shop.request(FetchItem(id: 7))  // in the caller's task
        // snippet.end
        _ = item
    }

    static func errors(_ shop: NetworkService) async {
        // snippet.errors
        do {
            _ = try await shop.request(FetchItem(id: 7))
        } catch let error as ServerFailure<ShopError> {
            print(error.serverError.message, error.status?.isClientError ?? false)
        } catch let error as NetworkError where error.kind == .undecodableBody {
            // `reason` contains the path of the value that was not decoded.
            print(error.reason ?? "", error.underlying as? DecodingError as Any)
        } catch {
            print(error)
        }
        // snippet.end
    }

    static func reading(_ shop: NetworkService) async throws {
        // snippet.reading
        let text: String = try await shop.request(.get("text"))  // read as a String
        let bytes: Data = try await shop.request(.get("bytes"))
        // Nil if the body is empty.
        let perhaps: Item? = try await shop.request(.get("items/7"))
        try await shop.request(.delete("items/7"))  // the body is ignored
        let status = try await shop.response(.get("health"), as: .void).http.status
        let inner = try await shop.request(
            .get("items"), as: .keyPath("data.items", .json([Item].self)))
        let changed = try await shop.request(
            .get("items"),
            as: .transformingJSON(
                { json in json["wrapped"] ?? json }, .json([Item].self)))
        // snippet.end
        _ = (text, bytes, perhaps, status, inner, changed)
    }

    static func observing(_ shop: NetworkService) {
        // snippet.observing
        let all = shop.observers.onFinish { call, report in
            print(call.endpoint, report.duration)
        }
        let items = shop.observers.onFinish { call, report in
            if call.endpoint is FetchItem { print(report) }
        }
        let failures = shop.observers.onFinish { call, report in
            if report.status?.isServerError == true { print(report.waterfall) }
        }
        items.cancel()  // or release the token
        // snippet.end
        _ = (all, failures)
    }

    static func retrying(_ handling: ErrorHandlingService) {
        // snippet.retrying
        let byStatus = RetryErrorHandler(
            RetryPolicy(retries: 1, on: .statuses(.conflict, .locked)))
        let byServerError = RetryErrorHandler(
            RetryPolicy(retries: 1, on: .serverError(ShopError.self)))
        let byEndpoint = RetryErrorHandler(
            RetryPolicy(retries: 1, on: .endpoint(FetchItem.self)))
        let changing = RetryErrorHandler(
            RetryPolicy(
                retries: 1,
                on: RetryPolicy.Condition { failure in
                    guard var request = failure.originalRequest else { return .no }
                    request.headers["X-Again"] = "1"
                    return .retry(with: request)
                }))
        // A handler can be added at any time. The token removes the handler.
        let token = handling.register(changing)
        // snippet.end
        _ = (byStatus, byServerError, byEndpoint, token)
    }

    static func tokens(_ api: URL, _ auth: NetworkService) async throws {
        // snippet.tokens
        struct Grant: Decodable {
            let token: String
            var accessToken: AccessToken { AccessToken(token) }
        }
        let session = AccessTokenSupervisor(token: nil) { old in
            let grant: Grant = try await auth.request(
                .post("token").body(.json(["token": old?.value])))
            return grant.accessToken
        }
        let shop = ShopService.make(api, session)
        _ = try await auth.request(
            .post("login"),
            as: .json(Grant.self).storingToken(in: session, \.accessToken))
        try await shop.request(.get("orders").authorized())
        // snippet.end
    }

    static func debugging(_ shop: NetworkService, _ request: HTTPRequest) {
        // snippet.debugging
        // Secrets are hidden, unless `redaction:` is `.revealed`.
        print(request.curlCommand())
        shop.task(.get("items"), as: .data).onAttempt { attempt in
            print(
                attempt.duration, attempt.request?.curlCommand() as Any,
                attempt.response?.status as Any)
        }
        // snippet.end
    }

    static func caching(_ api: URL) throws {
        // snippet.caching
        let shop = NetworkService(environment: NetworkEnvironment(baseURL: api)) {
            $0.cache = ResponseCache()
        }
        // Returns at once and sends no request.
        let kept = shop.cachedResponse(
            .get("items/7"), as: .json(Item.self))?.value
        shop.removeCached(.get("items/7"))
        let uncached = RequestSettings { $0.caching = .reload }
        // snippet.end
        _ = (kept, uncached)
    }

    static func platform(_ begin: @escaping @Sendable (@escaping @Sendable () -> Void) -> Int) {
        // snippet.platform
        let background = BackgroundTaskObserver(
            begin: begin, end: { (id: Int) in print("over", id) })
        let shop = NetworkService { $0.observers = [background] }
        // snippet.end
        _ = shop
    }
}
