import Foundation
import Networking
import NetworkingTesting

/// A server with one content, which changes from time to time. It sends the content slowly, so that processes can be
/// killed while they receive it.
final class DownloadServer: @unchecked Sendable {  // because of the lock
    static let path = "film"

    let server: LoopbackServer
    private let lock = NSLock()
    private var body = VersionedBody(path: DownloadServer.path, version: 8)
    private var requests = 0
    private var resumed = 0

    init() throws {
        server = try LoopbackServer()
        server.route(.get, "/" + DownloadServer.path) { [self] request in
            let body = lock.withLock { self.body }
            let response = LoopbackResponse.content(body.bytes, tag: "\"\(body.version)\"", for: request)
            lock.withLock {
                requests += 1
                if response.status == .partialContent { resumed += 1 }
            }
            return response.failing(.drip(bytes: 16_384, every: .milliseconds(1)))
        }
    }

    /// The current content.
    var content: Data { lock.withLock { body }.bytes }

    /// Replaces the content. Only every fourth version can have a long body.
    func change() {
        lock.withLock { body = VersionedBody(path: body.path, version: body.version + 4) }
    }

    /// The number of responses, and how many of them contained only the rest of the content.
    var counts: (requests: Int, resumed: Int) { lock.withLock { (requests, resumed) } }
}
