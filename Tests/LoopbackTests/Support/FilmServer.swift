import Foundation
import Networking
import NetworkingTesting
import Testing

/// A server with a film at the path `film`, and a folder for its downloads.
struct FilmServer {
    /// The content and validators of the server, and the numbers of bytes after which it closes the connection.
    struct Shelf: Sendable {
        var content: Data
        var tag: String? = "\"v1\""
        var modified: String?
        var cuts: [Int] = []
        var ranges: [String?] = []
    }

    let scratch: Scratch
    let server: LoopbackServer
    let shelf: Box<Shelf>
    let content = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })

    init() throws {
        scratch = try Scratch()
        server = try LoopbackServer()
        let shelf = Box(Shelf(content: content))
        self.shelf = shelf
        server.route(nil, "/film") { request in
            let (now, cut) = shelf.change { shelf in
                shelf.ranges.append(request.headers[.range])
                return (shelf, shelf.cuts.isEmpty ? nil : shelf.cuts.removeFirst())
            }
            var response = LoopbackResponse.content(now.content, tag: now.tag ?? now.modified ?? "none", for: request)
            response.headers[.eTag] = now.tag
            response.headers[.lastModified] = now.modified
            response.headers[.date] = httpDate(Date())
            return cut.map { response.failing(.truncate(after: $0)) } ?? response
        }
    }
}

/// A call for the film, or for another path of its server.
struct Film: Endpoint {
    var path: EndpointPath = "film"
    var query: URLQuery = [:]
    var method: HTTPMethod = .get
}

/// A suite whose tests download the film of a server.
protocol FilmDownloads {
    var films: FilmServer { get }
}

extension FilmDownloads {
    var scratch: Scratch { films.scratch }
    var server: LoopbackServer { films.server }
    var shelf: Box<FilmServer.Shelf> { films.shelf }
    var content: Data { films.content }
    var target: URL { scratch.file("film.mp4") }
    var destination: FileDestination { FileDestination(target, resuming: .sameAddress) }

    /// The names of the files in the folder.
    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: scratch.url.path).sorted()) ?? []
    }

    func service(_ engine: Engine = .preferred, retries: Int = 0) throws -> NetworkService {
        let policy = RetryPolicy(retries: retries, backoff: .constant(.zero))
        let transport = try engine.shared()
        return NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
            $0.retry = policy
            $0.transport = transport
        }
    }

    /// Runs a download that fails after `count` bytes.
    func cut(after count: Int, to destination: FileDestination? = nil) async throws {
        shelf.change { $0.cuts = [count] }
        await #expect(throws: NetworkError.self) {
            _ = try await service().request(Film(), as: .file(destination ?? self.destination))
        }
    }
}
