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

/// A value that several threads can read and change.
final class Box<Value: Sendable>: @unchecked Sendable {  // because a lock protects its value
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

/// A transport that responds when the test calls `answer(_:_:)`. The transport waits with a `Settlement`, as the
/// library does.
final class ManualTransport: Transport, @unchecked Sendable {  // because a lock protects its variables
    private let lock = NSLock()
    private var waiting: [(request: HTTPRequest, answer: Settlement<HTTPResponse>)] = []
    private var watchers: [(count: Int, isThere: Settlement<Void>)] = []
    private var received = 0
    private var ended = 0

    /// The number of requests that have been received.
    var count: Int { lock.withLock { received } }
    /// The number of requests whose callers stopped waiting for a response.
    var endedCount: Int { lock.withLock { ended } }

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
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

    /// Responds to the request that has waited longest.
    func answer(_ status: HTTPStatus = .ok, _ text: String = "", headers: HTTPHeaders = [:]) {
        let first = lock.withLock { waiting.isEmpty ? nil : waiting.removeFirst() }
        guard let first else { return }
        first.answer.settle(
            .success(HTTPResponse(status, headers: headers, content: .data(Data(text.utf8)), to: first.request)))
    }
}

enum Fixture {
    static let environment = NetworkEnvironment(
        baseURL: URL(string: "https://api.example.com/v1") ?? URL(fileURLWithPath: "/"))

    /// A clock that never advances. Nothing times out, even if the system schedules a test late.
    static var stillClock: NetworkClock { ManualClock().networkClock }

    /// Starts a task that has begun to wait when this function returns, if the system supports it. Otherwise, the task
    /// is likely to begin soon.
    static func begin(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        #if compiler(>=6.2)
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                return Task.immediate { await work() }
            }
        #endif
        return Task { await work() }
    }

    /// Returns the error that a call ends with, or nil if it succeeds.
    static func failure(_ call: () async throws -> Void) async -> (any Error)? {
        do {
            try await call()
            return nil
        } catch {
            return error
        }
    }
}

/// An in-memory store that behaves like a store that several processes share.
final class MemoryTokenStore: AccessTokenStore {
    struct Full: Error {}

    let isFull: Box<Bool>
    /// A settlement that delays `load()` and `save(_:replacing:)` until the settlement is settled; nil for no delay.
    let barrier = Box<Settlement<Void>?>(nil)
    private let token: Box<AccessToken?>
    private let isHeld = Box(false)
    private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

    init(_ token: AccessToken? = nil, isFull: Bool = false) {
        self.token = Box(token)
        self.isFull = Box(isFull)
    }

    func load() async throws -> AccessToken? {
        try await barrier.value?.value()
        return token.value
    }

    func save(_ token: AccessToken?, replacing expected: AccessToken?) async throws -> Bool {
        try await barrier.value?.value()
        if isFull.value { throw Full() }
        var isSaved = false
        self.token.change { stored in
            isSaved = stored == expected
            if isSaved { stored = token }
        }
        return isSaved
    }

    func exclusively<Value: Sendable>(
        _ operation: ExclusiveOperation<Value>
    ) async throws -> Value {
        while true {
            var isMine = false
            isHeld.change { isHeld in
                isMine = !isHeld
                isHeld = true
            }
            if isMine { break }
            try Task.checkCancellation()
            await Task.yield()
        }
        defer { isHeld.change { $0 = false } }
        return try await operation()
    }

    func changes() -> AsyncStream<Void> { stream }

    /// Removes the token even if the store is full, like another process that removes the file.
    func removeToken() { token.change { $0 = nil } }

    /// Reports a change to the readers of `changes()`.
    func notify() { continuation.yield() }
}

extension AccessTokenStore {
    /// Writes a token regardless of the content of the store, like another process.
    func put(_ token: AccessToken?) async throws {
        while try await !save(token, replacing: load()) {}
    }
}

extension Settlement<Void> {
    func wait() async { _ = try? await value() }
}
