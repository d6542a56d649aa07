import Foundation
public import Networking

/// A transport that returns responses from a recorded archive. Record once against a real server, then replay offline.
///
/// ```swift
/// let archive = try HARArchive(data: Data(contentsOf: file))
/// let profiles = ProfileService(environment: environment) { $0.transport = ReplayTransport(archive) }
/// ```
///
/// Record the archive with a ``HARRecorder`` and ``Redaction/revealed``. When requests are compared, a redacted value
/// matches every value. A successful response with a redacted body cannot be replayed. A request that the archive does
/// not contain fails with an error that names the request. Every request of a redirect chain is replayed separately.
public final class ReplayTransport: Transport, @unchecked Sendable {  // because of the lock around every variable
    /// The rule that decides which recorded exchange matches a request.
    public enum Matching: Sendable {
        /// The method, the URL and the body must be equal; the query items may be in any order. Each exchange is used
        /// once, in the recorded order.
        case strict
        /// The method and the path must be equal; the server, the query and the body may differ. If several exchanges
        /// match, an exchange with an equal query is preferred. If all matching exchanges have been used, the last of
        /// them is used again.
        case lenient
    }

    private let matching: Matching
    private let lock = NSLock()
    private var waiting: [HARArchive.Entry]
    private var used: [HARArchive.Entry] = []

    /// Creates a transport that returns the responses of an archive, by default with strict matching.
    public init(_ archive: HARArchive, matching: Matching = .strict) {
        waiting = archive.log.entries
        self.matching = matching
    }

    /// The recorded exchanges that no request has used yet. The text of each exchange is its method, host and path:
    /// `GET api.example.com/users/7`.
    public var unused: [String] {
        lock.withLock { waiting }.map { entry in
            let url = URL(string: entry.request.url)
            let request = url.map { HTTPRequest(HTTPMethod(entry.request.method), $0) }
            return request?.description ?? entry.request.method
        }
    }

    /// Returns the recorded response to a request.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest`` if the request is not valid;
    ///   ``NetworkError/Kind/noRecordedResponse`` if the archive does not contain the request, or if the recorded
    ///   response is successful and its body is redacted; the recorded error if the request failed when it was
    ///   recorded.
    public func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        try request.validate()
        let body = try ReplayTransport.bytes(of: request)
        guard let entry = lock.withLock({ take(request, body) }) else {
            throw NetworkError(
                .noRecordedResponse,
                reason:
                    "none of the \(unused.count) unused responses of the archive matches the request; a strict replay uses each "
                    + "response once; record the archive with Redaction.revealed",
                request: request)
        }
        try entry.response.checkIsComplete(request)
        return try entry.response.answer(to: request)
    }

    private func take(_ request: HTTPRequest, _ body: Data) -> HARArchive.Entry? {
        let asked = RecordedAddress(request.url.absoluteString)
        func fits(_ entry: HARArchive.Entry) -> Bool {
            guard entry.request.method == request.method.rawValue else { return false }
            let recorded = RecordedAddress(entry.request.url)
            switch matching {
            case .lenient: return recorded.path == asked.path
            case .strict:
                return recorded.matches(asked)
                    && (entry.request.postData?.matches(body, type: request.allHeaders.contentType) ?? body.isEmpty)
            }
        }
        func distance(_ entry: HARArchive.Entry) -> Int {
            matching == .strict || RecordedAddress(entry.request.url).hasQuery(of: asked) ? 0 : 1
        }
        if let index = waiting.indices.filter({ fits(waiting[$0]) }).min(by: {
            distance(waiting[$0]) < distance(waiting[$1])
        }) {
            used.append(waiting.remove(at: index))
            return used.last
        }
        guard matching == .lenient else { return nil }
        let again = used.filter(fits)
        return again.last { distance($0) == 0 } ?? again.last
    }

    /// Reads the part of a body that is available without waiting.
    private static func bytes(of request: HTTPRequest) throws -> Data {
        let reader = try request.openBody()
        defer { reader.close() }
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case .bytes(let count) = try buffer.withUnsafeMutableBytes({ try reader.read(into: $0) }) {
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}

/// A recorded URL. Its redacted parts match every value.
private struct RecordedAddress {
    let origin: String
    let path: String
    let query: [String]

    init(_ url: String) {
        let parts = url.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let address = String(parts.first ?? "")
        let start = address.range(of: "//")?.upperBound ?? address.startIndex
        let end = address[start...].firstIndex(of: "/") ?? address.endIndex
        origin = String(address[..<end])
        path = end == address.endIndex ? "/" : String(address[end...])
        query = parts.count > 1 ? parts[1].split(separator: "&").map(String.init).sorted() : []
    }

    func matches(_ other: RecordedAddress) -> Bool {
        origin.split(separator: "@").last == other.origin.split(separator: "@").last && path == other.path
            && hasQuery(of: other)
    }

    func hasQuery(of other: RecordedAddress) -> Bool {
        guard query.count == other.query.count else { return false }
        var left = other.query
        // Items that are not redacted are matched first. Redacted items match the remaining items.
        for item in query.sorted(by: { !$0.hasSuffix("=REDACTED") && $1.hasSuffix("=REDACTED") }) {
            let name = item.hasSuffix("=REDACTED") ? String(item.dropLast("REDACTED".count)) : nil
            guard let index = left.firstIndex(where: { $0 == item || name.map($0.hasPrefix) ?? (item == "REDACTED") })
            else { return false }
            left.remove(at: index)
        }
        return true
    }
}

extension HARArchive.PostData {
    /// Whether a body equals the recorded body. The order of JSON members and of form fields is ignored. The boundary
    /// of multipart data is also ignored, because each request has a new boundary. Other bodies are compared byte by
    /// byte. Redacted values match every value.
    fileprivate func matches(_ body: Data, type: MediaType?) -> Bool {
        let text = text ?? ""
        guard let recorded = encoding == "base64" ? Data(base64Encoded: text) : Data(text.utf8) else { return false }
        if recorded == body { return true }
        if text.hasPrefix("<"), text.hasSuffix(">"), text.contains(" bytes") { return true }
        if let left = try? JSONValue(json: recorded), let right = try? JSONValue(json: body) {
            return left.matches(right)
        }
        let recordedType = mimeType.flatMap { MediaType($0) }
        if recordedType?.withoutParameters == .formURLEncoded {
            return RecordedAddress("?" + text).hasQuery(
                of: RecordedAddress("?" + String(decoding: body, as: UTF8.self)))
        }
        guard let old = recordedType?.boundary, let new = type?.boundary else { return false }
        return recorded.replacing(Array(old.utf8), with: Array(new.utf8)) == body
    }
}

extension MediaType {
    fileprivate var boundary: String? { self[parameter: "boundary"] }
}

extension Data {
    fileprivate func replacing(_ old: [UInt8], with new: [UInt8]) -> Data {
        var result = Data()
        var rest = self[...]
        while let found = rest.range(of: Data(old)) {
            result += rest[..<found.lowerBound] + new
            rest = rest[found.upperBound...]
        }
        return result + rest
    }
}

extension JSONValue {
    /// Whether another document equals the recorded document. Redacted values match every value.
    fileprivate func matches(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.string("<redacted>"), _): true
        case (.object(let left), .object(let right)):
            left.count == right.count && left.allSatisfy { name, value in right[name].map(value.matches) ?? false }
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.matches($1) }
        default: self == other
        }
    }
}

extension HARArchive.Response {
    /// Throws the recorded error if the recorded request failed, or an error if a successful response is redacted.
    fileprivate func checkIsComplete(_ request: HTTPRequest) throws {
        let kind = comment.map(NetworkError.Kind.init)
        if let kind, status == 0 || kind.urlErrorCode != nil {
            throw NetworkError(kind, reason: "the recorded request failed: \(kind)", request: request)
        }
        guard status != 0 else {
            throw NetworkError(.cannotConnect, reason: "the recorded request got no response", request: request)
        }
        if HTTPStatus(status).isSuccessful, content?.comment == HARArchive.Content.hidden {
            throw NetworkError(
                .noRecordedResponse,
                reason: "the body of the recorded response is redacted; record the archive with Redaction.revealed",
                request: request)
        }
    }

    /// Returns the recorded response as an engine returns it: the body is decoded, so `Content-Encoding` is removed and
    /// `Content-Length` is the length of the decoded body.
    fileprivate func answer(to request: HTTPRequest) throws -> HTTPResponse {
        var headers = HTTPHeaders()
        for field in self.headers ?? [] where field.name.lowercased() != "content-encoding" {
            headers.append(HTTPHeader(HTTPHeader.Name(field.name), field.value))
        }
        let text = content?.text ?? ""
        guard let data = content?.encoding == "base64" ? Data(base64Encoded: text) : Data(text.utf8) else {
            throw NetworkError(.malformedResponse, reason: "the recorded body is not valid base64", request: request)
        }
        if request.method != .head, headers.contains(.contentLength) { headers.contentLength = data.count }
        return HTTPResponse(HTTPStatus(status), headers: headers, content: .data(data), to: request)
    }
}

extension NetworkError.Kind {
    /// A ``ReplayTransport`` has no response to the request. No error handler of the library replaces this error.
    public static let noRecordedResponse = NetworkError.Kind("noRecordedResponse")
}
