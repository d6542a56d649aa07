import Foundation
import Networking
import NetworkingTesting

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

/// A transport that answers when the test says so.
final class ManualTransport: Transport, @unchecked Sendable {  // because of its lock
    private let lock = NSLock()
    private var waiting: [(request: HTTPRequest, continuation: CheckedContinuation<HTTPResponse, any Error>)] = []
    private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    private var isCancelled = false

    func send(_ request: HTTPRequest, answering timing: AnswerTiming) async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let woken = lock.withLock {
                    waiting.append((request, continuation))
                    defer { watchers.removeAll { $0.count <= waiting.count } }
                    return watchers.filter { $0.count <= waiting.count }.map(\.continuation)
                }
                for watcher in woken { watcher.resume() }
                if lock.withLock({ isCancelled }) { cancelAll() }
            }
        } onCancel: {
            lock.withLock { isCancelled = true }
            cancelAll()
        }
    }

    func waitForRequests(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = lock.withLock {
                guard waiting.count < count else { return true }
                watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Answers the request that has waited longest.
    func answer(_ status: HTTPStatus = .ok, _ text: String = "") {
        let first = lock.withLock { waiting.isEmpty ? nil : waiting.removeFirst() }
        guard let first else { return }
        first.continuation.resume(
            returning: HTTPResponse(status, content: .data(Data(text.utf8)), to: first.request))
    }

    private func cancelAll() {
        let all = lock.withLock {
            defer { waiting = [] }
            return waiting
        }
        for entry in all { entry.continuation.resume(throwing: CancellationError()) }
    }
}

enum Fixture {
    static let environment = NetworkEnvironment(
        baseURL: URL(string: "https://api.example.com/v1") ?? URL(fileURLWithPath: "/"))

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
