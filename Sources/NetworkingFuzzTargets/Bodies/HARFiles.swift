import Foundation
import Networking
import NetworkingTesting

extension FuzzTarget {
    /// A HAR file. An accepted archive does not change if it is written and read again. Each of its exchanges can be
    /// replayed, or is refused with a reason.
    static let har = FuzzTarget("har", count: 200_000) { input in
        let archive: HARArchive
        do { archive = try HARArchive(data: Data(input.bytes)) } catch {
            return try require(error is DecodingError, "an archive is refused with an error of \(type(of: error))")
        }
        // If the name of a member is not UTF-8, the document is not a valid `JSONValue`. The archive accepts the
        // document, because Foundation ignores the name.
        let document = try? JSONDecoder().decode(JSONValue.self, from: Data(input.bytes))
        let entries = document?["log"]?["entries"]?.array ?? []
        for (entry, expected) in zip(archive.log.entries, entries) {
            try require(entry.request.url, equals: expected["request"]?["url"]?.string ?? "", "a URL")
            try require(entry.response.status, equals: expected["response"]?["status"]?.int ?? 0, "a status")
            try require(entry.comment, equals: expected["comment"]?.string, "a comment")
        }
        let data = try archive.encoded()
        try require(try HARArchive(data: data) == archive, "the archive changes when it is written")
        try require(try HARArchive(data: data).encoded() == data, "the file changes when it is written again")
        let transport = ReplayTransport(archive, matching: .lenient)
        try require(transport.unused.count, equals: archive.count, "the number of unused exchanges")
        for entry in archive.log.entries.prefix(2) {
            guard let url = URL(string: entry.request.url) else { continue }
            let request = HTTPRequest(HTTPMethod(entry.request.method), url)
            let result = try waiting { await Result { try await transport.send(request, delivering: .streamed) } }
            do { _ = try result.get() } catch let error as NetworkError {
                // The error has the recorded kind, so any kind is allowed.
                try require(error.reason?.isEmpty == false, "the error names no reason: \(error)")
            }
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
