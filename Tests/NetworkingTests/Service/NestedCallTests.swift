import Foundation
import NetworkingTesting
import Testing

@testable import Networking

/// Calls that adapters and transports make and await while the outer call holds its permit.
@Suite("Nested calls", .endsInTime)
struct NestedCallTests {
    /// The ways to make and await a nested call.
    enum Form: CaseIterable, Sendable {
        case asynchronous
        case task
        case taskInTask
        case callback

        func text(from service: NetworkService) async throws -> String {
            switch self {
            case .asynchronous:
                return try await service.request(.get("inner"), as: .string)
            case .task:
                return try await service.task(.get("inner"), as: .string).value
            case .taskInTask:
                return try await Task { try await service.task(.get("inner"), as: .string).map { $0 }.value }.value
            case .callback:
                return try await withCheckedThrowingContinuation { continuation in
                    service.task(.get("inner"), as: .string).onCompletion(on: .global()) {
                        continuation.resume(with: $0.map(\.value))
                    }
                }
            }
        }
    }

    /// The part that makes the nested call.
    enum Caller: CaseIterable, Sendable {
        case adapter
        case transport
    }

    /// A transport that makes a nested call before it responds to an outer call.
    private struct NestingTransport: Transport {
        let nested: @Sendable () async throws -> String

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            let text = request.url.path == "/v1/outer" ? try await nested() : "inner"
            return HTTPResponse(.ok, content: .data(Data(text.utf8)), to: request)
        }
    }

    private func service(_ caller: Caller, _ form: Form, _ limit: ConcurrencyLimit) -> NetworkService {
        let made = Box<NetworkService?>(nil)
        let nested: @Sendable () async throws -> String = {
            guard let service = made.value else { return "no service" }
            await Task.yield()
            return try await form.text(from: service)
        }
        let adapter = AdHocAdapter { request, _ in
            if caller == .adapter, request.url.path == "/v1/outer" { request.headers["X-Nested"] = try await nested() }
        }
        let transport = NestingTransport { caller == .transport ? try await nested() : "outer" }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.concurrencyLimit = limit
            $0.backoffGate = nil
            $0.requestAdaptingService = RequestAdaptingService([adapter])
        }
        made.change { $0 = service }
        return service
    }

    @Test(
        "A call inside another call needs no second permit, in whatever way the inner call is made",
        arguments: Caller.allCases, Form.allCases)
    func needsNoPermit(caller: Caller, form: Form) async throws {
        for (calls, limit) in [(1, ConcurrencyLimit(1)), (200, ConcurrencyLimit())] {
            let service = service(caller, form, limit)
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<calls { group.addTask { try await service.request(.get("outer"), as: .string) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(texts == Array(repeating: caller == .adapter ? "outer" : "inner", count: calls))
            #expect(limit.activeCount == 0 && limit.waiterCount == 0)
        }
    }

    @Test(
        "A task that a completed call has left running needs its own permit for its calls, also if it was nested",
        arguments: ["outer", "middle"])
    func afterwards(leaving: String) async throws {
        let limit = ConcurrencyLimit(1)
        let mayGo = Settlement<Void>()
        let isOver = Box(false)
        let left = Box<Task<Void, any Error>?>(nil)
        let made = Box<NetworkService?>(nil)
        let adapter = AdHocAdapter { request, _ in
            guard let service = made.value else { return }
            if request.url.path == "/v1/outer", leaving == "middle" { try await service.request(.get("middle")) }
            guard request.url.path == "/v1/\(leaving)" else { return }
            left.change {
                $0 = Task {
                    try? await mayGo.value()
                    try await service.task(.get("inner"), as: .void).value
                    isOver.change { $0 = true }
                }
            }
        }
        let transport = StubTransport { _ in .status(.ok) }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.concurrencyLimit = limit
            $0.backoffGate = nil
            $0.requestAdaptingService = RequestAdaptingService([adapter])
        }
        made.change { $0 = service }
        try await service.request(.get("outer"))
        let request = HTTPRequest(.get, try #require(Fixture.environment.baseURL))
        let held = try #require(limit.tryEnter(request, for: UserEndpoint.open))
        mayGo.settle(.success(()))
        while limit.waiterCount == 0, !isOver.value { await Task.yield() }
        #expect(!isOver.value)
        limit.leave(held, .notSent)
        try await left.value?.value
        #expect(limit.activeCount == 0)
    }

    private enum Order: Endpoint {
        case place
        case poll

        var path: EndpointPath { "orders" }
        var method: HTTPMethod { self == .place ? .post : .get }
        var authorizationType: AuthorizationType { .bearer }
    }

    @Test("With a limit of one, a call by an adapter does not wait for the permit of its outer call")
    func nested() async throws {
        let stub = StubTransport { _ in .status(.ok) }
        let limit = ConcurrencyLimit(1)
        let inner = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.concurrencyLimit = limit
            $0.backoffGate = nil
        }
        let adapter = AdHocAdapter { request, _ in
            try await inner.request(Order.poll)
            request.headers["X-Attested"] = "1"
        }
        let outer = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.concurrencyLimit = limit
            $0.backoffGate = nil
            $0.requestAdaptingService = RequestAdaptingService([adapter])
        }
        try await outer.request(Order.place)
        #expect(stub.requests.map(\.method) == [.get, .post])
        #expect(limit.activeCount == 0)
    }
}
