import Foundation
import Networking

extension FuzzTarget {
    /// The file that records the removals in the cache's directory, written by another program. If the input has a
    /// second part, the first part is repeated until the record has its largest size. Every call succeeds; a response
    /// that was removed is not found again; and the record does not grow further.
    static let removals = FuzzTarget("removals", count: 40_000) { input in
        let folder = FuzzFolder("removals")
        try folder.empty()
        let record = folder.url.appendingPathComponent("removals")
        let most = 37 << 10
        let first = input[0]
        let isRepeated = input.parts.count > 1 && !first.isEmpty
        let bytes = isRepeated ? Array(repeatElement(first, count: most / first.count + 1).joined()) : input.bytes
        try Data(bytes).write(to: record)
        let server = ChunkTransport(
            status: .ok, headers: [.cacheControl: "max-age=60"], body: [UInt8]("film".utf8), chunkSize: 1_024)
        for _ in 0..<2 {
            try require(try waiting { try await value(of: .reload, in: folder, server) } == "film", "the response")
            let stored = try waiting { try await value(of: .only, in: folder, server) }
            try require(stored == nil || stored == "film", "the stored response is \(stored ?? "")")
            try waiting { try await remove(in: folder, server) }
            let removed = try waiting { try await value(of: .only, in: folder, server) }
            try require(removed == nil, "the removed response is found")
        }
        let size = try Data(contentsOf: record).count
        try require(size <= max(bytes.count, most + 37), "the record has \(size) bytes")
    }

    private static func service(in folder: FuzzFolder, _ server: ChunkTransport) throws -> FuzzService {
        let cache = try ResponseCache(directory: folder.url)
        return FuzzService {
            $0.transport = server
            $0.cache = cache
        }
    }

    private static func value(
        of rule: ResponseCache.Rule, in folder: FuzzFolder, _ server: ChunkTransport
    ) async throws -> String? {
        let settings = RequestSettings { $0.caching = rule }
        do {
            return try await service(in: folder, server).request(.get("film"), as: .string, with: settings)
        } catch let error as NetworkError where error.kind == .notCached {
            return nil
        }
    }

    private static func remove(in folder: FuzzFolder, _ server: ChunkTransport) async throws {
        try await service(in: folder, server).request(.delete("film"))
    }
}
