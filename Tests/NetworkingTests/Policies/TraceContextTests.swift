import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Trace context", .endsInTime)
struct TraceContextTests {
    private let stub = StubTransport()
    private let observer = RecordingObserver()

    private func service(_ adapter: TraceContext.Adapter = TraceContext.Adapter()) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.retry = RetryPolicy(retries: 1)
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([adapter])
            $0.observers = [observer]
        }
    }

    private func contexts() -> [TraceContext?] {
        stub.requests.map {
            TraceContext(traceparent: $0.headers[.traceparent], tracestate: $0.headers[.tracestate])
        }
    }

    @Test("A call is one trace with the call's id, and each attempt is a separate span")
    func spans() async throws {
        stub.on(nil, nil, .status(.serviceUnavailable), .text("there"))
        let service = service()
        _ = try await service.request(UserEndpoint.open) as String
        _ = try await service.request(UserEndpoint.open) as String
        let contexts = contexts().compactMap { $0 }
        #expect(contexts.count == 3 && contexts.allSatisfy(\.isSampled))
        #expect(contexts[0].traceID == contexts[1].traceID && contexts[1].traceID != contexts[2].traceID)
        #expect(Set(contexts.map(\.spanID)).count == 3)
        let id = try #require(observer.events.first?.call.id)
        #expect(id.uuidString.replacingOccurrences(of: "-", with: "").lowercased() == contexts[0].traceID)
    }

    @Test("A parent context of the task determines trace id, flags and tracestate")
    func parent() async throws {
        stub.on(nil, nil, .text("there"))
        let parent = try #require(
            TraceContext(
                traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
                tracestate: "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"))
        let service = service()
        _ = try await TraceContext.$current.withValue(parent) {
            try await service.request(UserEndpoint.open) as String
        }
        let sent = try #require(contexts().first ?? nil)
        #expect(sent.traceID == parent.traceID && sent.spanID != parent.spanID && !sent.isSampled)
        #expect(sent.state == parent.state)
    }

    @Test("Another server gets no trace context by default, even after a redirect, and an existing field is kept")
    func otherOrigins() async throws {
        stub.on(nil, nil, .text("there"))
        stub.on(.get, "/v1/away", StubResponse(.found, headers: [.location: "https://other.example/x"]))
        let service = service()
        _ = try await service.request(.url("https://other.example/y")) as String
        _ = try await service.request(.get("away")) as String
        _ = try await service.request(.get("open").header(.traceparent, "mine")) as String
        #expect(stub.requests.map { $0.headers.contains(.traceparent) } == [false, true, false, true])
        #expect(stub.requests.last?.headers[.traceparent] == "mine")
        let open = self.service(TraceContext.Adapter(isSampled: false, includesOtherOrigins: true))
        _ = try await open.request(.url("https://other.example/y")) as String
        #expect(contexts().last??.isSampled == false)
    }

    @Test("A handler's request to another server has no trace context, and an invalid tracestate is dropped")
    func mirror() async throws {
        stub.on(.get, "/v1/open", .status(.serviceUnavailable))
        stub.on(.get, "/mirror", .text("there"))
        let mirror = AdHocErrorHandler { failure in
            guard var request = failure.originalRequest, let url = URL(string: "https://mirror.example/mirror") else {
                return .next(failure.error)
            }
            request.url = url
            return .retry(with: request)
        }
        let service = NetworkService(environment: Fixture.environment) {
            $0.transport = stub
            $0.requestAdaptingService = RequestAdaptingService([TraceContext.Adapter()])
            $0.errorHandlingService = ErrorHandlingService([mirror])
        }
        _ = try await service.request(UserEndpoint.open) as String
        #expect(stub.requests.map { $0.headers.contains(.traceparent) } == [true, false])
        let ids = (String(repeating: "a", count: 32), String(repeating: "b", count: 16))
        #expect(TraceContext(traceID: ids.0, spanID: ids.1, state: "garbage without equals,,===")?.state == nil)
        for text in ["=b", "a=", "a=b,=c"] {
            #expect(TraceContext(traceID: ids.0, spanID: ids.1, state: text)?.state == nil)
        }
        #expect(TraceContext(traceID: ids.0, spanID: ids.1, state: "a=b, c@d=e,")?.state == "a=b, c@d=e,")
    }

    @Test("A tracestate has up to 32 members")
    func members() {
        let ids = (String(repeating: "a", count: 32), String(repeating: "b", count: 16))
        for count in [32, 33] {
            let state = (0..<count).map { "k\($0)=v" }.joined(separator: ",")
            let context = TraceContext(traceID: ids.0, spanID: ids.1, state: state)
            #expect(context?.state == (count == 32 ? state : nil))
        }
    }

    @Test(
        "An invalid traceparent is rejected",
        arguments: [
            nil, "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
        ])
    func invalid(text: String?) {
        #expect(TraceContext(traceparent: text, tracestate: "a=b") == nil)
    }

    @Test("A traceparent of a later version can have more fields at its end; version 00 is sent")
    func laterVersion() {
        let later = TraceContext(traceparent: "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03-what")
        #expect(later?.traceparent == "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        // Only the last bit of the hexadecimal flags is the sampled flag.
        let flags = TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-10")
        #expect(flags?.isSampled == false)
    }
}
