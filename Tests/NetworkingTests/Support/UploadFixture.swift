import Foundation
import Networking
import NetworkingTesting

/// An endpoint that uploads a file.
struct TapeEndpoint: Endpoint {
    let file: URL
    var resumption = HTTPBody.Resumption.tus

    let path: EndpointPath = "films"
    let method = HTTPMethod.post
    let authorizationType = AuthorizationType.bearer
    var body: HTTPBody { .file(file).resumable(resumption) }
}

/// A file, a server, and a service on a manual clock.
struct UploadFixture {
    let folder: TemporaryFolder
    let server = TusServer()
    let clock = ManualClock()
    let file: URL
    let content: Data

    init(size: Int = 100_000) throws {
        folder = try TemporaryFolder()
        file = folder.url.appending(path: "film.mp4")
        content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        try content.write(to: file)
    }

    /// Returns a service as a new process would have it.
    func service(
        authorizedBy session: AccessTokenSupervisor? = nil, _ configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkService {
        let environment = NetworkEnvironment(baseURL: URL(string: "https://api.example.com"))
        let adjust: (inout NetworkConfiguration) -> Void = {
            $0.transport = server.stub
            $0.clock = clock.networkClock
            $0.backoffGate = nil
            $0.retry = nil
            configure(&$0)
        }
        guard let session else { return NetworkService(environment: environment, configure: adjust) }
        return NetworkService(environment: environment, authorizedBy: session, configure: adjust)
    }

    func upload(_ resumption: HTTPBody.Resumption = .tus, by service: NetworkService? = nil) async throws {
        try await (service ?? self.service()).request(TapeEndpoint(file: file, resumption: resumption))
    }

    /// The names of the files in the folder, apart from the film.
    var notes: [String] { folder.files.keys.filter { $0 != "film.mp4" }.sorted() }
}
