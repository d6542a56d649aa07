import Foundation
import Networking
import NetworkingTesting

/// A server of tus 1.0 behind a stub, with the faults that a test orders.
final class TusServer: Sendable {
    struct Upload: Sendable {
        var length: Int
        var bytes = Data()
        var metadata: String?
    }

    struct State: Sendable {
        var uploads: [String: Upload] = [:]
        var extensions = "creation,creation-with-upload,checksum,termination,expiration"
        var maximumSize: Int?
        /// The fields that each PATCH had with it.
        var patches: [HTTPHeaders] = []
        /// What happens to the next requests of a method, in this order, instead of what the server does.
        var orders: [String: [Fault]] = [:]
        /// Where created uploads are.
        var home = "https://api.example.com/uploads/"
        var expires: String?
        var count = 0
        /// The number of bytes of all bodies.
        var received = 0
    }

    /// A fault of the server or of the network.
    enum Fault: Sendable {
        /// The connection is lost when this number of bytes has arrived.
        case cut(after: Int)
        /// The response is lost.
        case loseResponse
        case respond(StubResponse)
        /// The response has another `Upload-Offset`.
        case claim(String)
        /// The server forgets all uploads before it looks at the request.
        case forget
        /// The server takes only this number of bytes, and says so.
        case take(Int)
    }

    let stub = StubTransport()
    private let state = Locked()

    /// The state, behind a lock.
    private final class Locked: @unchecked Sendable {  // because of the lock
        private let lock = NSLock()
        private var state = State()

        func change<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
            try lock.withLock { try body(&state) }
        }
    }

    init() {
        stub.on(nil, nil) { [self] request in try await answer(request) }
    }

    func change(_ body: (inout State) -> Void) { state.change(body) }

    /// Orders what happens to the next requests of a method.
    func order(_ method: HTTPMethod, _ faults: Fault...) {
        state.change { $0.orders["\(method)", default: []] += faults }
    }

    /// The bytes of the complete uploads.
    var complete: [Data] { state.change { $0.uploads.values.filter { $0.bytes.count == $0.length }.map(\.bytes) } }

    var uploads: [Upload] { state.change { Array($0.uploads.values) } }

    /// The methods of the requests, in their order.
    var methods: [String] { stub.requests.map { "\($0.method)" } }

    var patches: [HTTPHeaders] { state.change { $0.patches } }

    /// The number of bytes of all bodies.
    var received: Int { state.change { $0.received } }

    private func answer(_ request: HTTPRequest) async throws -> StubResponse {
        let body = try await request.body.collected(upTo: 64 << 20).data ?? Data()
        return state.change { state in
            state.received += body.count
            var fault: Fault?
            if let next = state.orders["\(request.method)"]?.first {
                state.orders["\(request.method)"]?.removeFirst()
                fault = next
            }
            if case .respond(let response)? = fault { return response }
            if case .forget? = fault { state.uploads = [:] }
            var taken = body
            if case .cut(let count)? = fault { taken = body.prefix(count) }
            if case .take(let count)? = fault { taken = body.prefix(count) }
            var response = state.answer(request, taken)
            if case .claim(let offset)? = fault { response.headers["Upload-Offset"] = offset }
            switch fault {
            case .cut, .loseResponse: return .failure(.connectionLostBeforeHead)
            default: return response
            }
        }
    }
}

extension TusServer.State {
    fileprivate mutating func answer(_ request: HTTPRequest, _ body: Data) -> StubResponse {
        var fields: HTTPHeaders = ["Tus-Resumable": "1.0.0"]
        if let expires { fields["Upload-Expires"] = expires }
        let name = request.url.lastPathComponent
        switch request.method {
        case .options:
            fields["Tus-Version"] = "1.0.0,0.2.2"
            fields["Tus-Extension"] = extensions
            fields["Tus-Checksum-Algorithm"] = "md5,sha1"
            if let maximumSize { fields["Tus-Max-Size"] = "\(maximumSize)" }
            return StubResponse(.noContent, headers: fields)
        case .post:
            guard request.headers["Tus-Resumable"] == "1.0.0" else { return StubResponse(HTTPStatus(412)) }
            guard let length = request.headers["Upload-Length"].flatMap({ Int($0) }) else {
                return StubResponse(.badRequest)
            }
            count += 1
            uploads["\(count)"] = .init(length: length, bytes: body, metadata: request.headers["Upload-Metadata"])
            fields[.location] = "\(home)\(count)"
            fields["Upload-Offset"] = "\(body.count)"
            return StubResponse(.created, headers: fields)
        case .head where request.headers["Tus-Resumable"] != "1.0.0": return StubResponse(HTTPStatus(412))
        case .head:
            guard let upload = uploads[name] else { return StubResponse(.notFound) }
            fields["Upload-Offset"] = "\(upload.bytes.count)"
            fields["Upload-Length"] = "\(upload.length)"
            return StubResponse(.ok, headers: fields)
        case .patch:
            patches.append(request.allHeaders)
            guard request.headers["Tus-Resumable"] == "1.0.0" else { return StubResponse(HTTPStatus(412)) }
            guard request.allHeaders[.contentType] == "application/offset+octet-stream" else {
                return StubResponse(HTTPStatus(415))
            }
            guard let upload = uploads[name] else { return StubResponse(.notFound) }
            guard request.headers["Upload-Offset"] == "\(upload.bytes.count)" else { return StubResponse(.conflict) }
            uploads[name]?.bytes.append(body)
            fields["Upload-Offset"] = "\(upload.bytes.count + body.count)"
            return StubResponse(.noContent, headers: fields)
        case .delete:
            return StubResponse(uploads.removeValue(forKey: name) == nil ? .notFound : .noContent, headers: fields)
        default:
            return StubResponse(.methodNotAllowed)
        }
    }
}
