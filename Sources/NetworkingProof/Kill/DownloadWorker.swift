import Foundation
import Networking

/// One of several processes that download the same content to the same file. It downloads again and again until it is
/// killed or its input ends. A download resumes the part that another process has left behind.
struct DownloadWorker: Sendable {
    private let name: String
    private let target: URL
    private let service: NetworkService

    /// - Parameter arguments: The path of the file, the URL of the server, and the name of the process.
    init?(_ arguments: [String]) {
        guard arguments.count == 3, let server = URL(string: arguments[1]) else { return nil }
        name = arguments[2]
        target = URL(fileURLWithPath: arguments[0])
        service = NetworkService(environment: NetworkEnvironment(baseURL: server))
    }

    static func download(_ service: NetworkService, to target: URL) async throws {
        _ = try await service.request(
            .get(EndpointPath(verbatim: DownloadServer.path)),
            as: .file(at: target, overwriting: .replace, resuming: .sameAddress))
    }

    func run() async {
        let isOver = InputEnd()
        while !isOver.hasCome {
            do { try await DownloadWorker.download(service, to: target) } catch {
                guard DownloadWorker.isExpected(error) else {
                    FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
                    exit(3)
                }
                try? await Task.sleep(for: .milliseconds(2))
            }
        }
    }

    /// Whether another process can have caused an error: that process is downloading to the same file, or has replaced
    /// the part after this process requested the rest.
    private static func isExpected(_ error: any Error) -> Bool {
        guard let error = error as? NetworkError else { return false }
        return error.kind == .malformedResponse || (error.underlying as? POSIXError)?.code == .EWOULDBLOCK
    }
}
