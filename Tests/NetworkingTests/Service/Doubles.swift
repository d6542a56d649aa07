import Foundation
import NetworkingTesting

@testable import Networking

/// The endpoints of the tests.
enum UserEndpoint: Endpoint {
    case fetch(id: String)
    case rename(id: String, to: String)
    case open

    var path: EndpointPath {
        switch self {
        case .fetch(let id), .rename(let id, _): "users/\(id)"
        case .open: "open"
        }
    }

    var method: HTTPMethod {
        switch self {
        case .fetch, .open: .get
        case .rename: .patch
        }
    }

    var body: HTTPBody {
        switch self {
        case .fetch, .open: .empty
        case .rename(_, let name): .json(["name": name])
        }
    }

    var authorizationType: AuthorizationType {
        switch self {
        case .fetch, .rename: .bearer
        case .open: .none
        }
    }

    func error(for status: HTTPStatus) -> (any Error)? {
        status == .conflict ? UserError.taken : status == 520 ? UserError.cloudy : nil
    }

    func error(for code: URLError.Code) -> (any Error)? {
        code == .cannotFindHost ? UserError.noHost : nil
    }
}

enum UserError: Error, Equatable {
    case taken
    case cloudy
    case noHost
}

struct User: Codable, Equatable {
    let id: String
}

final class UserService: NetworkService, @unchecked Sendable {
    func user(_ id: String) async throws -> User { try await request(UserEndpoint.fetch(id: id)) }
}

/// Something that is counted or collected from several threads.
final class Box<Value: Sendable>: @unchecked Sendable {  // because of its lock
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) {
        stored = value
    }

    var value: Value { lock.withLock { stored } }

    func change(_ body: (inout Value) -> Void) {
        lock.withLock { body(&stored) }
    }
}

/// A transport that answers when the test says so; its wait is one of the library's.
final class ManualTransport: Transport, @unchecked Sendable {  // because of its lock
    private let lock = NSLock()
    private var waiting: [(request: HTTPRequest, answer: Settlement<HTTPResponse>)] = []
    private var watchers: [(count: Int, isThere: Settlement<Void>)] = []
    private var received = 0
    private var ended = 0

    /// How many requests have come so far.
    var count: Int { lock.withLock { received } }
    /// How many were ended by their callers.
    var endedCount: Int { lock.withLock { ended } }

    func send(_ request: HTTPRequest, answering timing: AnswerTiming) async throws -> HTTPResponse {
        let answer = Settlement<HTTPResponse>()
        let satisfied = lock.withLock {
            waiting.append((request, answer))
            received += 1
            return watchers.filter { $0.count <= waiting.count }
        }
        for watcher in satisfied { watcher.isThere.settle(.success(())) }
        do { return try await answer.value() } catch {
            lock.withLock { ended += 1 }
            throw error
        }
    }

    func waitForRequests(_ count: Int = 1) async {
        let isThere = Settlement<Void>()
        lock.withLock {
            watchers.append((count, isThere))
            if waiting.count >= count { isThere.settle(.success(())) }
        }
        try? await isThere.value()
    }

    /// Answers the request that has waited longest.
    func answer(_ status: HTTPStatus = .ok, _ text: String = "") {
        let first = lock.withLock { waiting.isEmpty ? nil : waiting.removeFirst() }
        guard let first else { return }
        first.answer.settle(.success(HTTPResponse(status, content: .data(Data(text.utf8)), to: first.request)))
    }
}

enum Fixture {
    static let environment = NetworkEnvironment(
        baseURL: URL(string: "https://api.example.com/v1") ?? URL(fileURLWithPath: "/"))

    /// A clock that nobody moves: nothing times out, however long a test waits for its turn.
    static var stillClock: NetworkClock { ManualClock().networkClock }

    /// The error that a call ends with; nil where it succeeds.
    static func failure(_ call: () async throws -> Void) async -> (any Error)? {
        do {
            try await call()
            return nil
        } catch {
            return error
        }
    }
}
