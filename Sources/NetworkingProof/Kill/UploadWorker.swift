import Foundation
import Networking

/// One of several processes that upload the same file. It uploads the file again and again until it is killed or its
/// input ends. An upload resumes where another process has stopped.
struct UploadWorker: Sendable {
    /// The upload of a file.
    struct FilmEndpoint: Endpoint {
        let file: URL

        let path: EndpointPath = "films"
        let method = HTTPMethod.post
        var body: HTTPBody { .file(file).resumable(.tus) }
    }

    private let name: String
    private let file: URL
    private let service: NetworkService

    /// - Parameter arguments: The path of the file, the URL of the server, and the name of the process.
    init?(_ arguments: [String]) {
        guard arguments.count == 3, let server = URL(string: arguments[1]) else { return nil }
        name = arguments[2]
        file = URL(fileURLWithPath: arguments[0])
        service = NetworkService(environment: NetworkEnvironment(baseURL: server))
    }

    func run() async {
        let isOver = InputEnd()
        while !isOver.hasCome {
            do { try await service.request(FilmEndpoint(file: file)) } catch {
                // Another process is uploading the file, or the server is still reading the bytes that a killed process
                // sent.
                let known = error as? NetworkError
                let isOther = known?.kind == .uploadRefused && "\(error)".contains("in progress")
                guard isOther || known?.kind == .notProcessed else {
                    FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
                    exit(3)
                }
                try? await Task.sleep(for: .milliseconds(2))
            }
        }
    }
}
