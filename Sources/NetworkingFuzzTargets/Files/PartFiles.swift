import Foundation
import Networking

extension FuzzTarget {
    /// A resumed download. The input contains the note, the part, the content of the server, and possibly a wrong
    /// `Content-Range`. If the server sends the correct `Content-Range`, the file is complete. The part is used only if
    /// the note says that the part belongs to the content.
    static let partFiles = FuzzTarget("part-files", count: 30_000) { input in
        let folder = FuzzFolder("parts")
        try folder.empty()
        let file = folder.url.appendingPathComponent("film")
        let (note, part, content) = (input[0], input[1], input[2])
        if !note.isEmpty { try Data(note).write(to: folder.url.appendingPathComponent(".film.resume")) }
        if !part.isEmpty { try Data(part).write(to: folder.url.appendingPathComponent(".film.part")) }
        let server = RangeServer(content: content, wrongRange: input.parts.count > 3 ? input.text(3) : nil)
        let destination = FileDestination(file, overwriting: .replace, resuming: .content("film"))
        let error = try waiting { await download(to: destination, from: server) }
        if let error {
            try requireReason(error, .malformedResponse, .truncatedBody)
            try require(server.wrongRange != nil, "the download fails: \(error)")
            return try require(!FileManager.default.fileExists(atPath: file.path), "a failed download leaves a file")
        }
        let found = [UInt8](try Data(contentsOf: file))
        let left = folder.files.filter { $0.lastPathComponent != "film" }
        try require(left.isEmpty, "the download leaves \(left.map(\.lastPathComponent))")
        guard server.wrongRange == nil else { return }
        let kept = part.count == content.count ? part.dropLast() : part[...]
        let isResumed = found == [UInt8](kept) + [UInt8](content.dropFirst(kept.count))
        // If the part is complete, its last byte is requested again, so that the server confirms the content.
        let isAllowed = !part.isEmpty && ResumeNote(note)?.allows(content) == true
        try require(found == content || isAllowed && isResumed, "the file is \(found), the content \(content)")
    }

    private static func download(to destination: FileDestination, from server: RangeServer) async -> (any Error)? {
        let service = FuzzService { $0.transport = server }
        do {
            _ = try await service.request(.get("film"), as: .file(destination))
            return nil
        } catch {
            return error
        }
    }
}

/// The note of a part, read without the library.
private struct ResumeNote: Decodable {
    let content: String
    let validator: String
    let total: Int64?

    init?(_ bytes: [UInt8]) {
        guard let note = try? JSONDecoder().decode(ResumeNote.self, from: Data(bytes)) else { return nil }
        self = note
    }

    /// Whether the part may belong to the content.
    func allows(_ content: [UInt8]) -> Bool {
        self.content == "film" && validator == RangeServer.tag && (total ?? Int64(content.count)) == content.count
    }
}
