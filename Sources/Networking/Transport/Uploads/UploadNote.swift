import Foundation

/// The note about the upload of a file. The note is stored beside this file. The note is locked while an attempt uses
/// it, so that only one call in all processes uploads the file.
final class UploadNote: Sendable {
    /// What is noted.
    struct Content: Codable, Hashable, Sendable {
        /// The URL of the upload.
        var upload: URL
        /// The name that identifies the combination of URL, metadata and user: ``UploadOrder/name``.
        var name: String
        var file: FileIdentity
        /// Whether the server verifies the SHA-1 checksum of each request.
        var takesChecksums = false
        /// The time at which the server forgets the upload; nil if the server has not reported it.
        var expires: Date?
        /// Whether the last byte may have been sent. If true, the upload may be complete.
        var isSent = false
        /// Whether the last byte was ever passed to the connection. If not, the server cannot have received it.
        var hasReachedEnd = false
        /// The largest position that the server has named.
        var position = 0
    }

    /// What an attempt keeps for the next attempt of its call.
    struct Memory: Sendable {
        var content: Content
        /// Whether the content is also stored in the file.
        var isStored: Bool
    }

    private enum State: Sendable {
        /// Nothing is noted for this upload. A foreign note, of another user or for another server, stays in the file
        /// until a new note replaces it.
        case none(isForeign: Bool)
        case some(Content)
        case closed
    }

    private let url: URL
    private let file: PartFile
    private let order: UploadOrder
    private let state = Locked(State.none(isForeign: false))

    /// The content of the note; nil if nothing is noted.
    var content: Content? { state.withLock { if case .some(let content) = $0 { content } else { nil } } }

    /// - Throws: ``NetworkError/Kind/uploadRefused`` if another upload of the file is in progress;
    ///   ``NetworkError/Kind/bodyUnreadable`` if the file has changed since its upload began, unless the server has
    ///   forgotten the upload; ``NetworkError/Kind/fileNotWritable``.
    init(of order: UploadOrder, at now: Date) throws {
        let name = order.file.url.lastPathComponent
        self.order = order
        url = UploadNote.place(beside: order.file.url)
        file = try PartFile(url, isLocked: true) { code in
            code == EWOULDBLOCK
                ? NetworkError(
                    .uploadRefused, reason: "another upload of \(name) is in progress; to discard it, cancel its call")
                : NetworkError(
                    .fileNotWritable,
                    reason: "the note beside \(name) cannot be written (\(String(cString: strerror(code)))); "
                        + "the folder of the file must be writable",
                    underlying: POSIXErrorCode(rawValue: code).map { POSIXError($0) })
        }
        let (memory, stored) = (order.memory, try read())
        // Content that could not be stored is newer than the content of the file, unless another call has replaced the
        // upload.
        let isNewer = memory?.isStored == false && (stored == nil || stored?.upload == memory?.content.upload)
        guard let content = isNewer ? memory?.content : stored ?? memory?.content else { return }
        guard content.name == order.name else {
            guard memory?.isStored != true else { throw removed }
            state.withLock { $0 = .none(isForeign: true) }
            return
        }
        if content.file != order.file.identity, !order.discards {
            // If the file has changed, its upload begins again only if the server has forgotten the earlier upload.
            if !content.isSent, let expires = content.expires, expires <= now { return }
            file.close()
            throw order.file.hasChanged
        }
        state.withLock { $0 = .some(content) }
    }

    /// Writes the note of a new upload.
    func write(_ content: Content) {
        state.withLock { state in
            if case .closed = state { return }
            state = .some(content)
            keep(content)
        }
    }

    /// Changes what is noted about an upload. Does nothing if another upload has been noted meanwhile.
    func change(_ upload: URL, _ change: (inout Content) -> Void) {
        state.withLock { state in
            guard case .some(let old) = state, old.upload == upload else { return }
            var content = old
            change(&content)
            state = .some(content)
            if content != old { keep(content) }
        }
    }

    /// Notes that there is no upload.
    func clear() {
        state.withLock { state in
            guard case .some = state else { return }
            state = .none(isForeign: false)
            order.memory = nil
            try? file.truncate(to: 0)
        }
    }

    /// Releases the lock. A note without an upload is removed.
    func close() {
        state.withLock { state in
            var isEmpty = file.size == 0
            if case .none(isForeign: false) = state { isEmpty = true }
            if isEmpty, file.isNamed(url) { unlink(url.path) }
            state = .closed
            file.close()
        }
    }

    /// Stores the content of the note. If the file cannot be written, the upload can resume in this call, but not in
    /// the next call.
    private func keep(_ content: Content) {
        let isStored = (try? store(content)) != nil
        order.memory = Memory(content: content, isStored: isStored)
    }

    private func store(_ content: Content) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var text = try encoder.encode(content)
        // A shorter text would leave the end of the old text in the file.
        let written = Int(file.size) - UploadNote.form.sealed(Data()).count
        text += Data(repeating: UInt8(ascii: " "), count: max(written - text.count, 0))
        try file.overwrite(UploadNote.form.sealed(text))
    }

    /// Returns the content of the note; nil if it is empty or damaged. The upload then begins again.
    ///
    /// - Throws: ``NetworkError/Kind/fileNotWritable`` if the file is not a note; ``NetworkError/Kind/uploadRefused``
    ///   if the note of an earlier attempt of the call is gone.
    private func read() throws -> Content? {
        let bytes = try file.read(upTo: UploadNote.largest, at: 0)
        let name = url.lastPathComponent
        guard bytes.isEmpty || bytes[0] == 0 || bytes.starts(with: UploadNote.title.utf8) else {
            file.close()
            throw NetworkError(.fileNotWritable, reason: "the file \(name) exists, and is not the note of an upload")
        }
        guard !bytes.isEmpty || order.memory?.isStored != true else {
            close()
            throw removed
        }
        guard bytes.count < UploadNote.largest, let text = try? UploadNote.form.content(of: bytes) else { return nil }
        return try? JSONDecoder().decode(Content.self, from: text)
    }

    private var removed: NetworkError {
        NetworkError(
            .uploadRefused,
            reason: "the note \(url.lastPathComponent) was removed: another call has completed, discarded or replaced "
                + "the upload meanwhile")
    }

    /// Returns the URL of the note of a file.
    static func place(beside file: URL) -> URL {
        file.deletingLastPathComponent()
            .appendingPathComponent(FileName.fitting(file.lastPathComponent, before: ".", after: ".upload"))
    }

    private static let title = "networking-upload"
    private static let form = SealedText(title, format: 1, words: "the note of an upload")
    private static let largest = 256 << 10
}
