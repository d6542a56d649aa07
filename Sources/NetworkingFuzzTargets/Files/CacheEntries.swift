import Foundation
import Networking

extension FuzzTarget {
    /// A cache on disk. The input contains the query of a URL, the head and the body of the response, and a text that
    /// replaces the file. A second cache in the same directory finds the same response. The cache ignores a file in
    /// which one bit is wrong. If the file is replaced by this text with a correct checksum, the cache either ignores
    /// the file, or returns the end of the text as the body.
    static let cacheEntries = FuzzTarget("cache-entries", count: 60_000) { input in
        guard let (status, headers) = head(input[1]) else { return }
        let folder = FuzzFolder("cache")
        try folder.empty()
        let endpoint = AdHocEndpoint(.get, "films").query("q", input.text(0))
        let server = ChunkTransport(status: status, headers: headers, body: input[2], chunkSize: 1_024)
        let stored = try waiting { try await response(endpoint, in: folder, server, .reload) }
        let again = try waiting { try await response(endpoint, in: folder, server, .only) }
        if let stored, let again { try requireSame(again, stored) }
        guard let file = folder.files.first(where: { Int($0.lastPathComponent) != nil }) else { return }
        let text = [UInt8](try Data(contentsOf: file))
        // One bit of the file is wrong.
        var wrong = text
        let position = Int(input.bytes.last ?? 0) * 31 % wrong.count
        wrong[position] ^= 1
        try Data(wrong).write(to: file)
        let damaged = try waiting { try await response(endpoint, in: folder, server, .only) }
        try require(damaged == nil, "a file with a wrong bit at \(position) of \(wrong.count) is used")
        // The checksum is correct, and the text is different.
        guard input.parts.count > 3 else { return }
        var checksum = Checksum()
        checksum.update(input[3])
        try Data("networking-cache 1 \(checksum.value.hexadecimal)\n".utf8 + input[3]).write(to: file)
        let changed = try waiting { try await response(endpoint, in: folder, server, .only) }
        let isSuffix = changed.map { Array(input[3].suffix($0.data.count)) == [UInt8]($0.data) } ?? true
        try require(isSuffix, "the body is not the end of the changed file")
    }

    /// Returns the status and the fields of a response, as an engine reads them.
    private static func head(_ bytes: [UInt8]) -> (HTTPStatus, HTTPHeaders)? {
        let limit = 256 << 10  // the engine's default
        guard bytes.count <= limit else { return nil }
        var reader = ResponseHeadReader(limit: limit)
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: true) + [[]]
        for line in lines {
            switch line.withUnsafeBytes({ reader.read($0) }) {
            case .head(let head): return (head.status, head.headers)
            case .more: continue
            case .malformed, .tooLarge: return nil
            }
        }
        return nil
    }

    private static func response(
        _ endpoint: AdHocEndpoint, in folder: FuzzFolder, _ server: ChunkTransport, _ rule: ResponseCache.Rule
    ) async throws -> HTTPResponse? {
        let cache = try ResponseCache(directory: folder.url)
        let service = FuzzService {
            $0.transport = server
            $0.cache = cache
            $0.settings.validators = []
            $0.redirects = .ignore
        }
        do {
            return try await service.response(endpoint.settings { $0.caching = rule }, as: .data).http
        } catch let error as NetworkError {
            if error.kind == .notCached { return nil }
            // A partial response that was not requested is an error.
            try requireReason(error, .malformedResponse, .truncatedBody)
            return nil
        }
    }

    private static func requireSame(_ found: HTTPResponse, _ stored: HTTPResponse) throws {
        try require(found.status.code, equals: stored.status.code, "the status of the stored response")
        try require(found.data == stored.data, "the body of the stored response")
        for field in found.headers where field.name != "Age" && field.name != .date {
            let isSame = stored.headers.contains { other in
                field.name == other.name && field.value.utf8.elementsEqual(other.value.utf8)
            }
            try require(isSame, "\(field.name): \(field.value.debugDescription) was not received")
        }
    }
}
