// The Swift blocks of MigratingFromIONess.md, unchanged. `DocumentationTests` compares them with the article.

import Foundation
import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private enum IONessGuide {
    struct User: Codable, Sendable {
        let id: Int
        let name: String
    }

    static func making(_ session: URLSessionConfiguration, _ api: URL) throws {
        // snippet.making
        let transport = try URLSessionTransport(configuration: session)
        let users = NetworkService(environment: NetworkEnvironment(baseURL: api)) {
            $0.transport = transport  // default: the platform's
            $0.duplicates = .always(.join)
        }
        // snippet.end
        _ = users
    }

    static func requests(_ users: NetworkService, _ api: URL, _ id: Int) async throws {
        // snippet.requests
        let user: User = try await users.request(
            .get("users/\(id)").query(["full": true]).query(
                ["lang": "en"], .keepExisting
            )
            .headers(["X-Tenant": "acme"], .overwrite).header("X-Trace", "1"))
        let copy = try await users.request(
            .at(api.appendingPathComponent("users")), as: .json([User].self))
        let text = try await users.request(AdHocEndpoint("PURGE", "cache"), as: .string)
        // `result` is nil until the call ends with the error.
        let bad = users.task(.url("no url"), as: .string).result
        // snippet.end
        _ = (user, copy, text, bad)
    }

    // snippet.csv
    struct CSVBody {
        let rows: [[String]]

        var body: HTTPBody {
            .encoded(headers: [.contentType(MediaType("text", "csv"))]) {
                Data(
                    rows.map { $0.joined(separator: ",") }.joined(separator: "\n")
                        .utf8)
            }
        }
    }
    // snippet.end

    static func bodies() {
        // snippet.bodies
        let bodies: [HTTPBody] = [
            .data(Data([1, 2, 3]), contentType: nil),  // no Content-Type
            .string("text", encoding: .utf8),
            .jsonObject(["name": "Ada", "age": 36]),
            .jsonArray([1, "two"]),
            .json(["encodable"]),
            CSVBody(rows: [["a", "b"]]).body,
        ]
        // snippet.end
        _ = bodies
    }

    static func running(_ users: NetworkService, _ file: URL, _ target: URL) async throws {
        // snippet.running
        // Starts at once, even if nobody waits for it.
        let task = users.task(.get("users/7"), as: .json(User.self))
        // Runs on success only. If it throws, `name` fails.
        let name = task.map { user in user.name }
        task.onFailure { error in print(error) }
            .onCompletion { result in print(result) }
        let photo = task.flatMap { user in
            users.task(.get("photos/\(user.id)"), as: .data)
        }
        let both = RequestTask.all(name, photo)
        print(
            try await both.value, task.result as Any, task.state,
            task.progress.download.fraction ?? 0)
        task.cancel()  // ends it with `.cancelled`, in every state

        let upload = users.task(.post("photos").body(.file(file)), as: .void)
        let download = users.task(
            .get("film"),
            as: .file(at: target, overwriting: .replace, resuming: .sameAddress))
        download.pause()
        download.resume()
        // snippet.end
        _ = upload
    }

    struct Celsius: Sendable {
        let degrees: Double
    }

    static func reading(_ users: NetworkService) async throws {
        // snippet.reading
        let response = try await users.response(.get("users/7"), as: .data)
        print(response.http.status, response.http.headers, response.value.isEmpty)
        let user = try response.http.read(as: .json(User.self))
        let object = try response.http.read(as: .jsonObject)
        let list = try response.http.read(as: .jsonArray)

        let celsius = ResponseConverter<Celsius> { response in
            guard let degrees = try response.read(as: .jsonObject)["degrees"] as? Double
            else {
                throw URLError(.cannotParseResponse)
            }
            return Celsius(degrees: degrees)
        }
        let warm = try await users.request(.get("weather"), as: celsius)
        let length = try await users.request(
            .get("text"), as: ResponseConverter.string.map { $0.count })
        // snippet.end
        _ = (user, object, list, warm, length)
    }

    static func validating() {
        // snippet.validating
        let strict: [ResponseValidator] = [
            .status(200..<201), .headers { $0["X-Version"] == "2" },
            .headers { $0["X-Debug"] != "1" },
            ResponseValidator {
                $0.data.isEmpty ? .invalid("the response is empty") : .valid
            },
        ]
        let lenient: [ResponseValidator] = []  // accepts every status
        // snippet.end
        _ = (strict, lenient)
    }

    // snippet.delegate
    struct SigningAdapter: RequestAdapter {
        func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint)
            async throws
        {
            request.headers["X-Signature"] = "…"  // before every attempt
        }
    }

    struct SentObserver: RequestObserver {
        func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
            if case .sent(let request) = event { print("on its way: \(request)") }
        }
    }
    // snippet.end

    static func retrying(_ users: NetworkService) async throws {
        // snippet.retrying
        // Four requests at most.
        let three = RetryPolicy(
            retries: 3, backoff: .constant(.seconds(1)), on: .any)
        let own = RetryPolicy(
            retries: 5,
            on: RetryPolicy.Condition { failure in
                failure.status == .locked ? .retry(after: .seconds(2)) : .no
            })
        try await users.request(.get("a"), with: RequestSettings { $0.retry = three })
        try await users.request(.get("b").settings { $0.retry = own })
        // snippet.end
    }

    static func duplicates(_ users: NetworkService) async throws {
        // snippet.duplicates
        let policies: [DuplicateRequestPolicy] = [
            .always(.replace),  // cancels the earlier call and starts a new transfer
            // Ends both calls. A closure gets the result of a new transfer.
            .always(.replace(notifying: { result in print(result) })),
            .always(.keepFirst),  // the new call ends
            .always(.keepLatest),  // the earlier calls end; their transfer continues
            .always(.join),  // one transfer for all calls
            .always(.share(notifying: { result in print(result) })),
            DuplicateRequestPolicy { running, new in
                new.url.path == "/reload" ? .replace : .join
            },
        ]
        try await users.request(.get("feed").settings { $0.duplicates = policies[0] })
        // snippet.end
    }

    static func ending(_ users: NetworkService) async {
        // snippet.ending
        let hurried = RequestSettings {
            $0.timeouts.idle = .seconds(30)
            $0.timeouts.total = .seconds(30)
        }
        do {
            try await users.request(.get("slow"), with: hurried)
        } catch let error as NetworkError {
            print(
                error.status as Any, error.underlying as Any, error.kind == .cancelled,
                (error as NSError).domain)
        } catch {
            print(error)
        }
        users.client.cancelAll()
        // snippet.end
    }
}
