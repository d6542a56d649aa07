import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Files of downloads", .endsInTime)
struct DownloadFileTests {
    /// Answers with "body". Before the body ends, a closure of the test runs.
    private struct InterruptedTransport: Transport {
        let requests = Box<[HTTPRequest]>([])
        let beforeTheEnd: @Sendable () throws -> Void

        func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
            requests.change { $0.append(request) }
            let left = Box<[String]>(["body"])
            let body = IncomingBody(pull: {
                var next: String?
                left.change { next = $0.popLast() }
                if next == nil { try beforeTheEnd() }
                return next.map { Data($0.utf8) }
            })
            return HTTPResponse(.ok, headers: [.eTag: "\"1\""], content: .stream(body), to: request)
        }
    }

    private func service(_ transport: any Transport) -> NetworkService {
        NetworkService(environment: Fixture.environment) {
            $0.transport = transport
            $0.retry = nil
        }
    }

    @Test(
        "A file that another process puts in the place of the part never becomes the target",
        arguments: [FileDestination.ResumeRule.never, .sameAddress])
    func replacedPart(resuming: FileDestination.ResumeRule) async throws {
        let folder = try TemporaryFolder()
        let target = folder.url.appendingPathComponent("report")
        let transport = InterruptedTransport {
            for path in folder.files.keys where folder.files[path] == Data("body".utf8) {
                let part = folder.url.appendingPathComponent(path)
                try FileManager.default.removeItem(at: part)
                try Data("foreign".utf8).write(to: part)
            }
        }
        let destination = FileDestination(target, resuming: resuming)
        let error = await Fixture.failure {
            _ = try await service(transport).request(UserEndpoint.open, as: .file(destination))
        }
        #expect((error as? NetworkError)?.kind == .fileNotWritable)
        #expect(!FileManager.default.fileExists(atPath: target.path))
    }

    @Test("A download that can be resumed asks for the bytes of the file, without a content coding")
    func identity() async throws {
        let folder = try TemporaryFolder()
        let transport = InterruptedTransport {}
        for resuming in [FileDestination.ResumeRule.never, .sameAddress] {
            let target = folder.url.appendingPathComponent(UUID().uuidString)
            let destination = FileDestination(target, resuming: resuming)
            _ = try await service(transport).request(UserEndpoint.open, as: .file(destination))
        }
        #expect(transport.requests.value.map { $0.headers[.acceptEncoding] } == [nil, "identity"])
    }
}
