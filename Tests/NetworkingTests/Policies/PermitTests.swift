import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Permits", .endsInTime)
struct PermitTests {
    private func request(_ host: String = "a.example", _ option: RequestSettings.Admission = .required) throws
        -> HTTPRequest
    {
        var request = HTTPRequest(.get, try #require(URL(string: "https://\(host)/")))
        request.admission = option
        return request
    }

    @Test("Permits are returned only once, even if a transfer that got them returns them, too")
    func givenBackOnce() async throws {
        let admission = Admission([ConcurrencyLimit(2)])
        let limit = try #require(admission.policies.first as? ConcurrencyLimit)
        let (context, request) = (TransferContext(), try request())
        let admitted = try await admission.enter(request, for: UserEndpoint.open)
        let other = try await admission.enter(request, for: UserEndpoint.open)
        admitted.lend(to: context)
        #expect(context.isHeld)
        context.admission?.end(after: nil)
        context.admission?.end(after: nil)
        admitted.end(.notSent)
        #expect(limit.activeCount == 1 && !context.isHeld)
        other.end(.notSent)
        #expect(limit.activeCount == 0)
    }

    @Test("A host whose only waiter has been cancelled is forgotten, although it never had a permit")
    func idleHost() async throws {
        let limit = ConcurrencyLimit(1, total: 1)
        let permit = try #require(limit.tryEnter(try request(), for: UserEndpoint.open))
        let other = HTTPRequest(.get, try #require(URL(string: "https://other.example/")))
        let waiting = Task { try await limit.enter(other, for: UserEndpoint.open) }
        while limit.contents.active.count < 2 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: (any Error).self) { try await waiting.value }
        #expect(limit.contents.active.count == 1)
        limit.leave(permit, .notSent)
        #expect(limit.contents.active.isEmpty)
    }

    @Test("Policies are entered in the order of their stages and left in reverse order, regardless of their list order")
    func stages() async throws {
        let log = Box<[String]>([])
        let policies = [AdmissionStage.token, .limit, .custom, .gate, .breaker].map {
            LoggingPolicy("\($0)", log, stage: $0)
        }
        let service = UserService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .status(.ok) }
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = policies
        }
        try await service.request(UserEndpoint.open)
        let order = ["breaker", "gate", "custom", "limit", "token"]
        #expect(log.value == order.map { "\($0) in" } + order.reversed().map { "\($0) out" })
    }

    @Test("A call with the admission `refresh` needs no permit, even if the library did not mark the call as a refresh")
    func refreshOption() async throws {
        struct Refresh: Endpoint {
            var path: EndpointPath { "token" }
            var settings: RequestSettings { RequestSettings { $0.admission = .refresh } }
        }
        let limit = ConcurrencyLimit(1)
        let environment = NetworkEnvironment(baseURL: URL(string: "https://a.example"))
        let permit = try #require(limit.tryEnter(try request(), for: UserEndpoint.open))
        let service = UserService(environment: environment) {
            $0.transport = StubTransport { _ in .text("new") }
            $0.concurrencyLimit = limit
            $0.backoffGate = nil
        }
        #expect(try await service.request(Refresh(), as: .string) == "new")
        limit.leave(permit, .notSent)
    }

    @Test("If a policy is closed, the other permits are released before the wait and acquired again after it")
    func nothingHeld() async throws {
        let log = Box<[String]>([])
        let open = LoggingPolicy("open", log)
        let gate = LoggingPolicy("gate", log, isOpen: false)
        let admitted = try await Admission([open, gate]).enter(try request(), for: UserEndpoint.open)
        admitted.end(.notSent)
        #expect(
            log.value == [
                "open in", "gate not now", "open out", "gate awaited", "open in", "gate out", "open out",
            ])
    }

    @Test("Each of many policies is entered and left once, whichever of them is closed", arguments: 0..<7)
    func manyPolicies(closed: Int) async throws {
        let log = Box<[String]>([])
        let policies = (0..<7).map { LoggingPolicy("\($0)", log, isOpen: $0 != closed) }
        let admitted = try await Admission(policies).enter(try request(), for: UserEndpoint.open)
        admitted.end(.notSent)
        let (before, others) = (0..<closed, (0..<7).filter { $0 != closed })
        let first = before.map { "\($0) in" } + ["\(closed) not now"] + before.reversed().map { "\($0) out" }
        let second = ["\(closed) awaited"] + others.map { "\($0) in" } + (0..<7).reversed().map { "\($0) out" }
        #expect(log.value == first + second)
    }

    @Test("A policy that throws ends the call, and the earlier permits are released")
    func throwing() async throws {
        struct Closed: AdmissionPolicy {
            func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) throws -> AdmissionPermit? {
                throw UserError.cloudy
            }
            func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
                AdmissionPermit()
            }
            func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {}
        }
        let limit = ConcurrencyLimit(1)
        let stub = StubTransport { _ in .status(.ok) }
        let service = UserService(environment: Fixture.environment) {
            $0.transport = stub
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [limit, Closed()]
        }
        #expect(await Fixture.failure { try await service.request(UserEndpoint.open) } as? UserError == .cloudy)
        #expect(limit.activeCount == 0 && stub.requests.isEmpty)
    }

    @Test("A permit is released before an error handler runs, even if an adapter throws the error")
    func givenBack() async {
        let limit = ConcurrencyLimit(1)
        let seen = Box<[Int]>([])
        let handler = AdHocErrorHandler { failure in
            seen.change { $0.append(limit.activeCount) }
            return .next(failure.error)
        }
        for adapter in [AdHocAdapter { _, _ in }, AdHocAdapter { _, _ in throw UserError.taken }] {
            let service = UserService(environment: Fixture.environment) {
                $0.transport = StubTransport { _ in .status(.gone) }
                $0.concurrencyLimit = limit
                $0.backoffGate = nil
                $0.requestAdaptingService = RequestAdaptingService([adapter])
                $0.errorHandlingService = ErrorHandlingService([handler])
            }
            #expect(await Fixture.failure { try await service.request(UserEndpoint.open) } != nil)
        }
        #expect(seen.value == [0, 0])
    }

    @Test("A policy is notified of a download that failed, and of a response that a validator refused")
    func downloadOutcome() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("networking-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let outcomes = Box<[String]>([])
        struct Listening: AdmissionPolicy {
            let outcomes: Box<[String]>

            func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? { AdmissionPermit() }
            func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async -> AdmissionPermit {
                AdmissionPermit()
            }
            func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
                outcomes.change { all in
                    switch outcome {
                    case .responded(let response): all.append("responded \(response.status.code)")
                    case .failed(let error): all.append("failed \(NetworkError.wrapping(error).kind.description)")
                    case .notSent: all.append("not sent")
                    }
                }
            }
        }
        struct Halved: Transport {
            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                guard request.url.path.hasSuffix("half") else {
                    return HTTPResponse(.ok, content: .data(Data("a file".utf8)), to: request)
                }
                let pipe = BytePipe(capacity: 99)
                _ = pipe.write(Data("a fi".utf8))
                pipe.finish(.failure(NetworkError(.connectionLostAfterHead)))
                return HTTPResponse(.ok, content: .stream(IncomingBody(pipe, of: request)), to: request)
            }
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = Halved()
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [Listening(outcomes: outcomes)]
        }
        func file(_ name: String) -> ResponseConverter<URL> { .file(at: folder.appendingPathComponent(name)) }
        _ = await Fixture.failure { _ = try await service.request(.get("half"), as: file("half")) }
        _ = await Fixture.failure {
            _ = try await service.request(
                .get("whole"), as: file("whole"), with: RequestSettings { $0.validators = [.status([.created])] })
        }
        _ = try await service.request(.get("whole"), as: file("whole"))
        #expect(outcomes.value == ["failed connectionLostAfterHead", "responded 200", "responded 200"])
    }
}

private final class LoggingPolicy: StagedAdmissionPolicy {
    private let name: String
    private let log: Box<[String]>
    private let isOpen: Bool
    let stage: AdmissionStage

    init(_ name: String, _ log: Box<[String]>, isOpen: Bool = true, stage: AdmissionStage = .custom) {
        self.stage = stage
        self.name = name
        self.log = log
        self.isOpen = isOpen
    }

    func tryEnter(_ request: HTTPRequest, for endpoint: any Endpoint) -> AdmissionPermit? {
        log.change { $0.append("\(name) \(isOpen ? "in" : "not now")") }
        return isOpen ? AdmissionPermit() : nil
    }

    func enter(_ request: HTTPRequest, for endpoint: any Endpoint) async throws -> AdmissionPermit {
        log.change { $0.append("\(name) awaited") }
        return AdmissionPermit()
    }

    func leave(_ permit: AdmissionPermit, _ outcome: AdmissionPermit.Outcome) {
        log.change { $0.append("\(name) out") }
    }
}
