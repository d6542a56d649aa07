import Foundation
import Networking
import NetworkingTesting
import Testing

@Suite("Endpoint contracts", .endsInTime)
struct EndpointContractTests {
    private struct Get: Endpoint {
        var path: EndpointPath = "users/7"
        var method: HTTPMethod = .get
        var headers: HTTPHeaders = []
        var body: HTTPBody = .empty
    }

    private struct Login: TypedEndpoint {
        typealias ResponseValue = [String: String]
        typealias ServerError = [String: Int]
        var path: EndpointPath { "login" }
    }

    private let environment = NetworkEnvironment(
        baseURL: URL(string: "https://api.example.com") ?? URL(fileURLWithPath: "/"))

    private func faults(_ examples: EndpointExample...) async -> [String] {
        do {
            try await EndpointContract.check(examples, in: environment)
            return []
        } catch { return (error as? EndpointContract.Breach)?.faults ?? ["\(error)"] }
    }

    @Test("A Content-Type that does not describe a form, and a slash that the base URL lacks, are faults")
    func formsAndSlashes() async throws {
        let form = Get(method: .post, headers: [.contentType(.json)], body: .multipart([.field("a", 1)]))
        #expect(
            await faults(EndpointExample(form)).first?.contains("Content-Type is application/json, but its body is")
                == true)
        let json = Get(method: .post, headers: [.contentType("application/vnd.api+json")], body: .json(["a": 1]))
        #expect(await faults(EndpointExample(json)) == [])
        let base = NetworkEnvironment(baseURL: URL(string: "https://api.example.com/v1"))
        let error = await #expect(throws: EndpointContract.Breach.self) {
            try await EndpointContract.check([EndpointExample(Get(path: "/"))], in: base)
        }
        #expect(error?.faults.first?.contains("its path \"/\" is sent as \"/v1/\"") == true)
        try await EndpointContract.check([EndpointExample(Get(path: ""))], in: base)
        #expect(await faults(EndpointExample(Get(path: "/"))) == [], "the root needs no slash")
    }

    @Test("Valid examples pass the check, and a stub can be created from them")
    func good() async throws {
        let examples = [
            EndpointExample(Get(), response: .text("seven"), as: .string),
            EndpointExample(
                Login(), response: .json(["token": "t"]), errorResponse: .json(["code": 7], status: .conflict)),
            EndpointExample(Get(path: "users", method: .post, body: .json(["a": 1]))),
        ]
        try await EndpointContract.check(examples, in: environment)
        let stub = try await StubTransport(examples: examples, in: environment)
        let service = NetworkService(environment: environment) { $0.transport = stub }
        #expect(try await service.request(Get()) == "seven")
        #expect(try await service.request(Login()) == ["token": "t"])
        await #expect(throws: NetworkError.self) { try await service.request(Get(path: "other")) }
    }

    @Test("Each error names its example and the fault")
    func faults() async {
        let id = ""
        for (example, words) in [
            (Get(path: "users/\(id)"), "Get cannot be sent: path:"), (Get(headers: ["A": "x\r\ny"]), "header"),
            (Get(body: .string("x")), "it has a body with GET; use another method"),
            (Get(path: "users//7"), "empty segment"),
            (Get(method: .post, body: .jsonObject(["a": Data()])), "\"a\" is of type Data, which cannot be encoded"),
        ] {
            let found = await faults(EndpointExample(example))
            #expect(found.count == 1 && found[0].contains(words), "\(found)")
            #expect(found.first?.hasPrefix("Get ") == true)
        }
        let same = await faults(EndpointExample(Get()), EndpointExample(Get()))
        #expect(same.count == 1 && same[0].contains("makes the same request as"))
        #expect(await faults(EndpointExample(Get()), EndpointExample(Get(headers: ["A": "b"]))).isEmpty)
    }

    @Test("A sample response or a sample error response that cannot be read is reported")
    func samples() async {
        #expect(
            await faults(EndpointExample(Login(), response: .text("no"))).first?.contains(
                "cannot read its sample response")
                == true)
        #expect(
            await faults(EndpointExample(Login(), errorResponse: .text("no", status: .conflict))).first?
                .contains("cannot read its sample error response") == true)
        #expect(
            await faults(EndpointExample(Login(), errorResponse: .json(["token": "t"]))).first?.contains(
                "status of 400")
                == true)
        #expect(await faults().count == 1, "a check without examples reports one fault")
        #expect(await faults(EndpointExample(Get(), response: .text("x"), as: .json([Int].self))).count == 1)
    }

    @Test("The contract finds a member of the wrong type; Swift would silently use the protocol's default instead")
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
        #expect(text.contains("`method` has the type String") && text.contains("expected HTTPMethod"), "\(text)")
        #expect(text.contains("`body` has the type Optional<HTTPBody>"), "\(text)")
    }
}
