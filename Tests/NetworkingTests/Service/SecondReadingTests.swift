import Foundation
import NetworkingTesting
import Testing

@testable import Networking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Tests for defects that a second review found and that must stay fixed.
@Suite("Defects found in a second review", .timeLimit(.minutes(5)))
struct SecondReadingTests {
    private let clock = ManualClock()

    @Test("A session whose token could never be saved is refreshed anyway and does not end")
    func neverKept() async throws {
        let session = AccessTokenSupervisor(store: MemoryTokenStore(isFull: true), clock: Fixture.stillClock) { _ in
            AccessToken("new")
        }
        let events = Box<[String]>([])
        let token = session.events.observe(on: nil) { event in events.change { $0.append("\(event)") } }
        session.accessToken = AccessToken("old")  // the user logs in
        let stub = StubTransport { $0.headers[.authorization] == "Bearer new" ? .text("ok") : .status(.unauthorized) }
        let service = UserService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        for _ in 0..<2 {
            #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
            session.accessToken = AccessToken("old")
        }
        #expect(!events.value.contains { $0.contains("sessionOver") }, "\(events.value)")
        token.cancel()
    }

    @Test("A log-in that could not be saved is refreshed, also after another process has ended the old session")
    func keptBefore() async throws {
        let store = MemoryTokenStore(AccessToken("t1"))
        let session = AccessTokenSupervisor(store: store, clock: Fixture.stillClock) { _ in AccessToken("new") }
        try await session.load()
        let stub = StubTransport { $0.headers[.authorization] == "Bearer new" ? .text("ok") : .status(.unauthorized) }
        let service = UserService(environment: Fixture.environment, authorizedBy: session) { $0.transport = stub }
        try await store.put(nil)  // another process logs out
        let over = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(over as? GeneralRequestError == .noAuth)
        store.isFull.change { $0 = true }
        session.accessToken = AccessToken("t2")
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
    }

    @Test("Observers, handlers and closures whose deinitializer changes the same list do not deadlock")
    func lastReferences() async throws {
        // Unchecked, because its variables are set before another thread uses it.
        final class Owner: RequestObserver, ErrorHandler, @unchecked Sendable {
            var token: ObservationToken?
            var task: RequestTask<Void>?

            func observe(_ event: RequestEvent, of call: RequestEvent.Call) {}
            func handle(_ failure: RequestFailure) async -> ErrorHandlingResult { .next(failure.error) }
            deinit {
                token?.cancel()
                _ = task?.state
                _ = task?.progress
            }
        }
        let observers = RequestObservers()
        var observing: ObservationToken?
        do {
            let owner = Owner()
            owner.token = observers.onFinish { _, _ in }
            observing = observers.register(owner)
        }
        observing?.cancel()
        #expect(observers.isEmpty)

        let handlers = ErrorHandlingService([])
        var handling: ObservationToken?
        do {
            let owner = Owner()
            owner.token = handlers.register(Owner())
            handling = handlers.register(owner)
        }
        handling?.cancel()

        let transport = ManualTransport()
        let service = NetworkService(environment: Fixture.environment) { $0.transport = transport }
        let task = service.task(UserEndpoint.open, as: .void)
        do {
            let owner = Owner()
            owner.task = task
            task.onProgress { _ in _ = owner }
            task.onStart { _ = owner }
        }
        await transport.waitForRequests()
        transport.answer()
        try await task.value
    }

    @Test("A failure of a redirect's target counts for the target, not for the host that redirected")
    func redirectedBreaker() async throws {
        let breaker = CircuitBreaker(failureRatio: 0.5, minimumCalls: 2, clock: clock.networkClock)
        let stub = StubTransport { request in
            request.url.host == "cdn.example"
                ? .status(.serviceUnavailable) : .status(.found, headers: [.location: "https://cdn.example/x"])
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [breaker]
        }
        for _ in 0..<4 { _ = await Fixture.failure { try await service.request(UserEndpoint.open) } }
        let home = try #require(URL(string: "https://api.example.com").flatMap(HTTPOrigin.init))
        let cdn = try #require(URL(string: "https://cdn.example").flatMap(HTTPOrigin.init))
        #expect(breaker.state(of: home) == .closed)
        #expect(breaker.state(of: cdn) == .open)
        let mirror = ClosureAdapter { request, _ in
            request.url = URL(string: "https://cdn.example/x") ?? request.url
        }
        let mirrored = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [breaker]
            $0.requestAdaptingService = RequestAdaptingService([mirror])
        }
        for _ in 0..<8 { _ = await Fixture.failure { try await mirrored.request(UserEndpoint.open) } }
        #expect(breaker.state(of: home) == .open, "an adapter's host counts for the original origin")
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
                    case .answered(let response): all.append("answered \(response.status.code)")
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
                .get("whole"), as: file("whole"), with: RequestSettings(validators: [.status([.created])]))
        }
        _ = try await service.request(.get("whole"), as: file("whole"))
        #expect(outcomes.value == ["failed connectionLostAfterHead", "answered 200", "answered 200"])
    }

    @Test("Handlers get the status of a response whose body was lost")
    func lostBody() async throws {
        let seen = Box<[HTTPStatus?]>([])
        let watch = ClosureErrorHandler { failure in
            seen.change { $0.append(failure.status) }
            return .next(failure.error)
        }
        let transport = LostBody()
        struct LostBody: Transport {
            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                throw NetworkError(
                    .connectionLostAfterHead, request: request,
                    response: HTTPResponse(.serviceUnavailable, headers: [.retryAfter: "7"], to: request))
            }
        }
        let observer = RecordingObserver()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.errorHandlingService = ErrorHandlingService([watch])
            $0.observers = [observer]
        }
        _ = await Fixture.failure { try await service.request(UserEndpoint.open) }
        #expect(seen.value == [.serviceUnavailable])
        #expect(observer.reports.first?.status == .serviceUnavailable)
    }

    @Test("An error page above the size limit keeps its status: a 401 starts a refresh, a 404 is not found")
    func largeErrorPage() async throws {
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            AccessToken("new")
        }
        let page = Data(repeating: 0x20, count: 5_000)
        let stub = StubTransport { request in
            guard request.headers[.authorization] == "Bearer new" else {
                return StubResponse(.unauthorized, body: page)
            }
            return request.url.path.hasSuffix("missing") ? StubResponse(.notFound, body: page) : .text("ok")
        }
        let service = NetworkService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = stub
            $0.settings = RequestSettings { $0.maximumResponseSize = 1_000 }
        }
        #expect(try await service.request(UserEndpoint.fetch(id: "7"), as: .string) == "ok")
        let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "missing")) }
        #expect(error as? GeneralRequestError == .notFound)
        let large = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in StubResponse(.ok, body: page) }
            $0.settings = RequestSettings { $0.maximumResponseSize = 1_000 }
        }
        let tooLarge = await Fixture.failure { try await large.request(UserEndpoint.open) } as? NetworkError
        #expect(tooLarge?.kind == .responseTooLarge)
        #expect(tooLarge?.response?.data.isEmpty == true, "the data of a large response is dropped")
        let lenient = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in StubResponse(.notFound, body: page) }
        }
        for size in [1_000, 0, -1] {
            let settings = RequestSettings {
                $0.validators = []
                $0.maximumResponseSize = size
            }
            let cut = await Fixture.failure { _ = try await lenient.request(.get("x"), as: .data, with: settings) }
            #expect((cut as? NetworkError)?.kind == .responseTooLarge, "a response is not truncated")
        }
    }

    @Test("A refresh that exceeds its time limit is reported as a timeout, however its task ends")
    func refreshTimeout() async throws {
        for _ in 0..<50 {
            let session = AccessTokenSupervisor(
                token: AccessToken("old"), refreshTimeout: .seconds(3), clock: clock.networkClock
            ) { [clock] _ in
                try await clock.networkClock.wait(for: .seconds(1_000_000))
                return AccessToken("late")
            }
            let stub = StubTransport { _ in .status(.unauthorized) }
            let service = NetworkService(environment: Fixture.environment) {
                $0.errorMapping = .unmapped
                $0.transport = stub
                $0.concurrencyLimit = nil
                $0.backoffGate = nil
                $0.admissionPolicies = [session.gate]
                $0.requestAdaptingService = RequestAdaptingService([session.adapter])
                $0.errorHandlingService = ErrorHandlingService([session.handler])
            }
            async let error = Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(3))
            let underlying = (await error as? NetworkError)?.underlying as? NetworkError
            #expect(underlying?.kind == .deadlineTimedOut)
            // A late result would still be used. After a second time limit the refresh is cancelled.
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(3))
            while clock.sleeperCount > 0 { await Task.yield() }
        }
    }

    @Test("A request that a handler sends to another server and back again is not foreign at its own server")
    func thereAndBack() async throws {
        let marks = Box<[Bool]>([])
        let note = ClosureAdapter { request, _ in marks.change { $0.append(request.isForeign) } }
        let home = try #require(Fixture.environment.baseURL)
        let mirrors = [try #require(URL(string: "https://mirror.example/x")), home]
        let handler = ClosureErrorHandler { failure in
            guard failure.attempt <= 2 else { return .next(failure.error) }
            return .retry(with: HTTPRequest(.get, mirrors[failure.attempt - 1]))
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .status(.serviceUnavailable) }
            $0.requestAdaptingService = RequestAdaptingService([note])
            $0.errorHandlingService = ErrorHandlingService([handler])
        }
        _ = await Fixture.failure { try await service.request(UserEndpoint.open) }
        #expect(marks.value == [false, true, false])
    }

    @Test("Waiting for sleepers that never come ends when the task is cancelled")
    func sleepersThatNeverCome() async {
        let clock = clock
        let waiting = Task { await clock.waitForSleepers(3) }
        await Task.yield()
        waiting.cancel()
        await waiting.value
        let early = Task { await clock.waitForSleepers(3) }
        early.cancel()
        await early.value
    }

    @Test("The breaker and the gate drop hosts that have not been used for a long time")
    func manyHosts() async throws {
        let breaker = CircuitBreaker(clock: clock.networkClock)
        let gate = BackoffGate(clock: clock.networkClock)
        let stub = StubTransport { _ in .status(.tooManyRequests, headers: [.retryAfter: "1"]) }
        stub.on(.head, nil, .status(.ok))
        let service = NetworkService(environment: NetworkEnvironment()) {
            $0.transport = stub
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [breaker, gate]
        }
        for index in 0..<1_000 {
            _ = await Fixture.failure { try await service.request(.head("https://h\(index).example/")) }
            _ = await Fixture.failure { try await service.request(.get("https://h\(index).example/")) }
            clock.advance(by: .seconds(60))
        }
        #expect(breaker.knownOrigins < 200)
        #expect(gate.knownOrigins < 200)
        let dead = NetworkService(environment: NetworkEnvironment()) {
            $0.transport = StubTransport { _ in .status(.badGateway) }
            $0.concurrencyLimit = nil
            $0.backoffGate = nil
            $0.admissionPolicies = [breaker]
        }
        for index in 0..<300 {
            for _ in 0..<10 { _ = await Fixture.failure { try await dead.request(.get("https://d\(index).example/")) } }
            clock.advance(by: .seconds(60))
        }
        #expect(breaker.knownOrigins < 200, "failed hosts without new calls are dropped, too")
    }

    @Test("An adapter that is also a handler is reset once, and so is a handler that was added later")
    func resetOnce() async {
        final class Both: SynchronousRequestAdapter, ErrorHandler, ResetParticipant {
            let resets = Box(0)
            func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {}
            func handle(_ failure: RequestFailure) async -> ErrorHandlingResult { .next(failure.error) }
            func reset() async { resets.change { $0 += 1 } }
        }
        let both = Both()
        let later = Both()
        let handling = ErrorHandlingService([both])
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .status(.ok) }
            $0.requestAdaptingService = RequestAdaptingService([both])
            $0.errorHandlingService = handling
        }
        let token = handling.register(later)
        await service.reset()
        #expect(both.resets.value == 1)
        #expect(later.resets.value == 1)
        token.cancel()
    }

    @Test(
        "Foundation's joined cookies are split, also if a date has a comma; other commas do not split them",
        arguments: [
            ("a=1; Expires=Wed, 09 Jun 2032 10:18:14 GMT, b=2", ["a=1; Expires=Wed, 09 Jun 2032 10:18:14 GMT", "b=2"]),
            ("a=1,b=2,  c=3", ["a=1", "b=2", "c=3"]), ("a=1, ,b", ["a=1, ,b"]), ("", [""]), (",", [","]),
            ("a=x,=y", ["a=x,=y"]),
        ] as [(String, [String])])
    func joinedCookies(value: String, fields: [String]) {
        #expect(JoinedCookies(value: value).fields == fields)
    }

    @Test("A cookie whose value has a comma and a name after it is one cookie and keeps its attributes")
    func commaInCookie() async throws {
        let jar = CookieJar(clock: clock.networkClock)
        let url = try #require(URL(string: "https://api.example.com/x"))
        jar.keep([.setCookie: "sid=abc,v=2; Path=/; Secure"], from: url)
        #expect(jar.cookies.map(\.value) == ["abc,v=2"] && jar.cookies.first?.isSecure == true)
        let commas = String(repeating: ",", count: 250_000)
        #expect(JoinedCookies(value: "a=" + commas).fields.count == 1)
    }

    @Test("A GET with a body does not get the stored response to another body")
    func cachedSearch() async throws {
        let stub = StubTransport { request in
            StubResponse(.ok, headers: ["Cache-Control": "max-age=60"], body: request.body.data ?? Data())
        }
        let transport = CachingTransport(stub, cache: ResponseCache(clock: clock.networkClock))
        let url = try #require(URL(string: "https://api.example.com/_search"))
        for text in ["one", "two"] {
            let request = HTTPRequest(.get, url, body: .string(text))
            #expect(try await transport.send(request, delivering: .buffered(limit: 99)).data == Data(text.utf8))
        }
    }

    @Test("An observer that takes over a transfer is notified even if the response is available at once")
    func observedRestart() async throws {
        let told = Box(0)
        let first = ManualTransport()
        let isFirst = Box(true)
        struct Switch: Transport {
            let first: ManualTransport
            let isFirst: Box<Bool>

            func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
                guard isFirst.value else { return HTTPResponse(.ok, content: .data(Data("now".utf8)), to: request) }
                isFirst.change { $0 = false }
                return try await first.send(request, delivering: delivery)
            }
        }
        let policy = DuplicateRequestPolicy { _, _ in
            .replace(notifying: { result in if case .success = result { told.change { $0 += 1 } } })
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.errorMapping = .unmapped
            $0.transport = Switch(first: first, isFirst: isFirst)
            $0.duplicates = policy
        }
        async let earlier = Fixture.failure { try await service.request(UserEndpoint.open) }
        await first.waitForRequests()
        let error = await Fixture.failure { try await service.request(UserEndpoint.open) }
        #expect((error as? NetworkError)?.kind == .cancelled)
        #expect((await earlier as? NetworkError)?.kind == .cancelled)
        for _ in 0..<100_000 where told.value == 0 { await Task.yield() }
        #expect(told.value == 1)
    }

    @Test("In a group, calls with different size limits do not share a response")
    func boundsInAGroup() async throws {
        let transport = ManualTransport()
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.duplicates = .join
        }
        func settings(_ size: Int?) -> RequestSettings {
            var settings = RequestSettings { $0.maximumResponseSize = size }
            settings.duplicateGroup = "search"
            return settings
        }
        async let small = service.request(.get("x"), as: .data, with: settings(3))
        await transport.waitForRequests()
        async let large = service.request(.get("x"), as: .data, with: settings(nil))
        await transport.waitForRequests(2)
        transport.answer(.ok, "text")
        transport.answer(.ok, "text")
        #expect(try await large == Data("text".utf8))
        var tooSmall = false
        do { _ = try await small } catch { tooSmall = true }
        #expect(tooSmall)
    }

    @Test("A string inside JSON has no quotation marks, whichever converter reads it")
    func textsInside() throws {
        let request = HTTPRequest(.get, try #require(URL(string: "https://a.example")))
        let response = HTTPResponse(
            .ok, headers: [.contentType: "application/json"], content: .data(Data(#"{"name":"Ada","no":null}"#.utf8)),
            to: request)
        #expect(try response.read(as: .keyPath("name", .automatic() as ResponseConverter<String>)) == "Ada")
        #expect(try response.read(as: .keyPath("name", .optional(.string))) == "Ada")
        #expect(try response.read(as: .keyPath("name", .automatic() as ResponseConverter<String?>)) == "Ada")
        #expect(try response.read(as: .keyPath("no", .automatic() as ResponseConverter<String?>)) == nil)
        #expect(try response.read(as: .keyPath("name", .data)) == Data(#""Ada""#.utf8))
        for converter in [.keyPath("name", .automatic()), .keyPath("name", .string)] as [ResponseConverter<String>] {
            var asked = request
            converter.applyHeaders(to: &asked)
            #expect(asked.headers[.accept] == "application/json")
        }
    }

    @Test("The error of a form field that cannot be encoded names the field and has the encoder's error")
    func impossibleField() async throws {
        struct Form: Encodable { let ratio: Double }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .text("") }
        }
        for body in [HTTPBody.multipart(fields: Form(ratio: .nan), files: []), .form(.encoded(Form(ratio: .nan)))] {
            let error = await Fixture.failure { try await service.request(.post("x").body(body)) } as? NetworkError
            #expect(error?.kind == .bodyNotEncodable && error?.underlying is EncodingError)
            #expect(error?.reason?.contains("\"ratio\"") == true, "\(error as Any)")
        }
    }

    @Test("An endpoint's base URL and path are read once, so a changing URL gets no secret of another server")
    func readOnce() throws {
        struct Fickle: Endpoint {
            let reads: Box<Int>
            let paths: Box<Int>
            var baseURL: URL {
                reads.change { $0 += 1 }
                return reads.value.isMultiple(of: 2)
                    ? Fixture.environment.baseURL ?? NetworkEnvironment.noBaseURL
                    : URL(string: "https://other.example") ?? NetworkEnvironment.noBaseURL
            }
            var path: EndpointPath {
                paths.change { $0 += 1 }
                return "x"
            }
        }
        let environment = NetworkEnvironment(
            baseURL: Fixture.environment.baseURL, headers: [.authorization: "secret"])
        let endpoint = Fickle(reads: Box(0), paths: Box(0))
        let request = try EndpointRequest(endpoint: endpoint, environment: CopyOnWrite(environment)).make(
            RequestSettings(of: endpoint).over(.standard))
        #expect(endpoint.reads.value == 1 && endpoint.paths.value == 1)
        #expect(request.url.host == "other.example" && request.headers.isEmpty)
    }

    @Test("A header that is marked as sensitive stays sensitive when its value is replaced")
    func sensitiveStays() {
        var headers: HTTPHeaders = []
        headers.set(HTTPHeader("X-Tenant-Key", "old", isSensitive: true))
        headers["x-tenant-key"] = "fresh"
        #expect(headers["X-Tenant-Key"] == "fresh" && !"\(headers)".contains("fresh"))
    }

    @Test("Credentials are in no description; `fieldValue` returns them")
    func credentials() {
        let basic = HTTPAuthorization.basic(username: "ada", password: "hush")
        var dumped = ""
        dump(basic, to: &dumped)
        for text in ["\(basic)", String(reflecting: basic), dumped] { #expect(!text.contains("hush"), "\(text)") }
        #expect(basic.fieldValue == "Basic YWRhOmh1c2g=")
    }

    @Test("Progress that follows another meter never decreases, whichever threads update it")
    func followers() async {
        for _ in 0..<50 {
            let source = ProgressMeter(clock: Fixture.stillClock)
            let follower = ProgressMeter(clock: Fixture.stillClock)
            follower.follow(source)
            source.beginUpload(total: 4_000)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { for _ in 0..<1_000 { source.noteSent(1) } } }
            }
            #expect(follower.current == source.current)
        }
    }

    @Test("An event that never ends is an error, in bounded memory")
    func endlessEvent() throws {
        var parser = ServerSentEventParser(longestEvent: 1_000)
        let line = Data(("data: " + String(repeating: "x", count: 99) + "\n").utf8)
        for _ in 0..<10 { #expect(try parser.parse(line).isEmpty) }
        #expect(throws: NetworkError.self) { try parser.parse(line) }
        var other = ServerSentEventParser(longestEvent: 1_000)
        for _ in 0..<100 { #expect(try other.parse(line + Data("\n".utf8)).count == 1) }
    }

    @Test("A header value that is folded over very many lines is parsed in linear time")
    func folds() {
        var reader = ResponseHeadReader(limit: 1 << 20)
        func read(_ line: String) -> ResponseHeadReader.Step {
            Array(line.utf8).withUnsafeBytes { reader.read($0) }
        }
        _ = read("HTTP/1.1 200 OK\r\n")
        _ = read("X: y\r\n")
        for _ in 0..<200_000 { _ = read(" z\r\n") }
        guard case .head(let head) = read("\r\n") else { return #expect(Bool(false), "no head") }
        #expect(head.headers["X"]?.utf8.count == 1 + 2 * 200_000)
    }

    @Test("A retry without a wait is also reported to observers, and the log has a warning")
    func retryAtOnce() async throws {
        let lines = Box<[String]>([])
        let stub = StubTransport()
        stub.on(nil, nil, .status(.serviceUnavailable), .text("ok"))
        let service = NetworkService(environment: Fixture.environment) {
            $0.retry = RetryPolicy(retries: 1)
            $0.transport = stub
            $0.observers = [LogObserver(level: .warning) { line in lines.change { $0.append("\(line)") } }]
        }
        try await service.request(UserEndpoint.open)
        #expect(
            lines.value.count == 1 && lines.value.first?.contains("503 Service Unavailable") == true, "\(lines.value)")
    }

    @Test("The reason of a failed refresh is in the log and the report, whatever error the call throws")
    func brokenRefresh() async throws {
        struct Grant: Decodable, Sendable { let expiresIn: Int }
        let auth = NetworkService(environment: Fixture.environment) {
            $0.transport = StubTransport { _ in .json(text: "{}") }
        }
        let session = AccessTokenSupervisor(token: AccessToken("old"), clock: Fixture.stillClock) { _ in
            let grant: Grant = try await auth.request(.post("token"))
            return AccessToken("\(grant.expiresIn)")
        }
        let lines = Box<[String]>([])
        let observer = RecordingObserver()
        let service = UserService(environment: Fixture.environment, authorizedBy: session) {
            $0.transport = StubTransport { _ in .status(.unauthorized) }
            $0.observers = [LogObserver { line in lines.change { $0.append("\(line)") } }, observer]
        }
        let error = await Fixture.failure { try await service.request(UserEndpoint.fetch(id: "7")) }
        #expect(error as? GeneralRequestError == .noAuth)
        let words = "\"expiresIn\" is missing"
        #expect(lines.value.last?.contains(words) == true, "\(lines.value)")
        #expect(observer.reports.first?.waterfall.contains(words) == true)
    }

    @Test("A number that is not finite is refused in a query", arguments: [Double.nan, .infinity, -.infinity])
    func noNumber(value: Double) async throws {
        let stub = StubTransport { _ in .text("") }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let error = await Fixture.failure { try await service.request(.get("x").query("lat", value)) } as? NetworkError
        #expect(error?.kind == .invalidRequest && error?.reason?.contains("\"lat\"") == true, "\(error as Any)")
        #expect(stub.requests.isEmpty)
    }

    @Test("A condition that never becomes true ends the wait of a manual clock with an error")
    func nothingHappens() async {
        await #expect(throws: ManualClock.NothingHappened.self) {
            try await clock.advance(by: .seconds(1), atMost: 10, until: { false })
        }
    }

    @Test("The rules of a stub accept patterns, and paths with or without a slash at the beginning")
    func stubPatterns() async throws {
        let stub = StubTransport()
        stub.on(.get, "v1/users/:id", .text("user"))
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        #expect(try await service.request(.get("users/7")) as String == "user")
        let error = await Fixture.failure { try await service.request(.get("users/7/files")) } as? NetworkError
        #expect(error?.kind == .noStubRule)
    }

    @Test("The contract finds a member of the wrong type, whose default would be used silently")
    func wrongMembers() async throws {
        struct Wrong: Endpoint {
            let path: EndpointPath = "x"
            let method = "POST"
            let body: HTTPBody? = .string("text")
        }
        let breach = await Fixture.failure {
            try await EndpointContract.check([EndpointExample(Wrong())], in: Fixture.environment)
        }
        let text = breach?.localizedDescription ?? ""
        #expect(text.contains("`method` is a String") && text.contains("make it a HTTPMethod"), "\(text)")
        #expect(text.contains("`body` is a Optional<HTTPBody>"), "\(text)")
    }
}
