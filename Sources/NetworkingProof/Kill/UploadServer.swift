import Foundation
import Networking
import NetworkingTesting

/// A server of tus 1.0 that reads slowly, so that processes can be killed while they send. It keeps each byte that has
/// arrived, refuses a second request for an upload while it reads the first one, and checks the bytes of each complete
/// file.
final class UploadServer: @unchecked Sendable {  // because of the lock
    private struct Upload {
        var bytes = Data()
        var count = 0
        var isBusy = false
    }

    let server: LoopbackServer
    private let content: Data
    private let lock = NSLock()
    private var uploads: [String: Upload] = [:]
    private var requests = 0
    private var resumed = 0
    private var complete = 0
    private var created = 0
    private var found: [String] = []

    init(_ content: Data) throws {
        self.content = content
        server = try LoopbackServer()
        server.route(.options, "/films") { _ in
            LoopbackResponse(.noContent, headers: ["Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0"])
        }
        server.route(.post, "/films") { [self] request in create(request) }
        server.route(.head, "/uploads/:id") { [self] request in position(request.parameters["id"] ?? "") }
        server.route(.patch, "/uploads/:id") { [self] request in try await receive(request) }
    }

    /// The number of requests that send bytes, how many of them do not begin at the first byte, the number of created
    /// uploads, and the number of complete files.
    var counts: (requests: Int, resumed: Int, created: Int, complete: Int) {
        lock.withLock { (requests, resumed, created, complete) }
    }

    /// The number of uploads that were created but not completed. Only a kill between the creation of an upload and the
    /// storing of its note may lose the upload.
    var abandoned: Int { lock.withLock { created - complete } }

    var violations: [String] { lock.withLock { found } }

    private func create(_ request: LoopbackRequest) -> LoopbackResponse {
        lock.withLock {
            if request.headers["Upload-Length"] != "\(content.count)" { found.append("an upload of another length") }
            created += 1
            let name = "\(created)"
            uploads[name] = Upload()
            return LoopbackResponse(.created, headers: ["Tus-Resumable": "1.0.0", "Location": "/uploads/\(name)"])
        }
    }

    private func position(_ name: String) -> LoopbackResponse {
        lock.withLock {
            guard let upload = uploads[name] else { return LoopbackResponse(.notFound) }
            guard !upload.isBusy else { return LoopbackResponse(.locked) }
            return LoopbackResponse(
                .ok,
                headers: [
                    "Tus-Resumable": "1.0.0", "Upload-Offset": "\(upload.count)", "Upload-Length": "\(content.count)",
                ])
        }
    }

    private func receive(_ request: LoopbackRequest) async throws -> LoopbackResponse {
        let name = request.parameters["id"] ?? ""
        let start = request.headers["Upload-Offset"].flatMap { Int($0) } ?? -1
        let refusal: HTTPStatus? = lock.withLock {
            requests += 1
            guard let upload = uploads[name] else { return .notFound }
            guard !upload.isBusy else { return .locked }
            guard upload.count == start else { return .conflict }
            if start > 0 { resumed += 1 }
            uploads[name]?.isBusy = true
            return nil
        }
        if let refusal { return LoopbackResponse(refusal) }
        defer { lock.withLock { uploads[name]?.isBusy = false } }
        for try await chunk in request.body {
            lock.withLock {
                uploads[name]?.bytes += chunk
                uploads[name]?.count += chunk.count
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        return lock.withLock {
            let upload = uploads[name] ?? Upload()
            if upload.count >= content.count, start < content.count {
                complete += 1
                if upload.bytes != content { found.append("upload \(name) has other bytes than the file") }
                uploads[name]?.bytes = Data()
            }
            return LoopbackResponse(
                .noContent, headers: ["Tus-Resumable": "1.0.0", "Upload-Offset": "\(upload.count)"])
        }
    }
}
