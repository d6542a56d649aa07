public import Foundation

/// The target file of a download, and the rule for a file that exists there already.
///
/// The bytes are written to another file in the target's folder. When that file is complete, it becomes the target in
/// one step, so that the target is never an incomplete file.
public struct FileDestination: Sendable {
    /// What happens if the target exists already.
    public enum OverwriteRule: Hashable, Sendable {
        /// The call ends with ``NetworkError/Kind/fileNotWritable`` before anything is sent, and the existing file is
        /// not changed.
        case fail
        /// The existing file is replaced.
        case replace
        /// The existing file stays, and the new file gets a number: `report 2.pdf`.
        case uniqueName
    }

    /// Whether an incomplete download is resumed by a later attempt, call or process.
    ///
    /// The received part stays in the folder, with a small file that describes it. A later download requests the rest
    /// with `Range` and `If-Range` ([RFC 9110, section 13.1.5](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5)).
    /// If the server does not confirm with a strong validator that the content is the same, the download restarts.
    ///
    /// The part is locked while the download runs. On Apple platforms, do not place such a target in a shared app group
    /// container: the system terminates an app that is suspended while it has locked a file there.
    public enum ResumeRule: Hashable, Sendable {
        /// A later attempt restarts the download, and a failed download leaves no part. The only exception is a pause:
        /// if the server confirms the content, the download continues with the part after the pause.
        case never
        /// The download resumes a part that came from the same address; the query is not compared.
        case sameAddress
        /// The download resumes a part that was downloaded under the same name, from any address. Use this rule if the
        /// same content gets new URLs.
        case content(String)
    }

    /// The target file.
    package let url: URL
    /// What happens if the target exists already.
    let rule: OverwriteRule
    /// Whether the call waits until the system has written the bytes to the disk.
    let isDurable: Bool
    /// Whether an incomplete download is resumed.
    let resuming: ResumeRule
    /// The expected checksum. A file with another checksum is removed, and the call ends with
    /// ``NetworkError/Kind/checksumMismatch``.
    let checksum: FileDestination.Checksum?
    /// The name of a part that only its own call continues, after a pause. Nil if later calls continue the part, or if
    /// the call cannot be paused.
    private var partOfCall: String?

    /// Creates a destination. The target's folder must exist.
    public init(
        _ url: URL, overwriting rule: OverwriteRule = .fail, isDurable: Bool = false,
        resuming: ResumeRule = .never, checksum: FileDestination.Checksum? = nil
    ) {
        self.url = url
        self.rule = rule
        self.isDurable = isDurable
        self.resuming = resuming
        self.checksum = checksum
    }

    /// Returns the destination for one call that can be paused.
    func forPausableCall() -> FileDestination {
        guard resuming == .never else { return self }
        var copy = self
        copy.partOfCall = UUID().uuidString
        return copy
    }

    /// Removes the part that only this call continues. Called when the call has ended.
    func endCall() {
        guard partOfCall != nil else { return }
        removeNote()
        unlink(part.path)
    }

    /// Whether another attempt may continue the part.
    var isContinued: Bool { resuming != .never || partOfCall != nil }

    /// The number of bytes of an incomplete download that can be resumed.
    public var partialSize: Int64 {
        guard point != nil, let attributes = try? FileManager.default.attributesOfItem(atPath: part.path),
            // A part with a second hard link is a complete file that already has its final name, too.
            (attributes[.referenceCount] as? NSNumber)?.intValue ?? 1 < 2
        else { return 0 }
        return (attributes[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// Removes the part of an incomplete download. The part of a download in progress is not removed.
    public func discardPart() {
        guard let file = try? PartFile(part, isLocked: true, fault) else { return }
        defer { file.close() }
        remove(part)
    }

    /// The file that contains the bytes until the download is complete.
    var part: URL { hiddenSibling("part") }

    /// The small file that describes the part.
    var note: URL { hiddenSibling("resume") }

    /// The file of the description while it is being written. Only the download that has locked the part writes this
    /// file, so its name need not be unique. The name is fixed, so that the next download finds and removes the file of
    /// a terminated process.
    private var newNote: URL { hiddenSibling("new") }

    private func hiddenSibling(_ ending: String) -> URL {
        url.deletingLastPathComponent().appendingPathComponent(
            FileName.fitting(
                url.lastPathComponent, before: ".", after: (partOfCall.map { ".\($0)" } ?? "") + ".\(ending)"))
    }

    /// The stored description of the part; nil if there is none, or if it is damaged.
    var point: ResumePoint? {
        guard let content = try? OwnedFile.read(note.path),
            let point = try? JSONDecoder().decode(ResumePoint.self, from: content)
        else { return nil }
        return point.isSendable ? point : nil
    }

    /// Checks that the target is a file URL and not a folder, that the overwrite rule allows the download, and that the
    /// target's folder exists and is writable.
    func check() throws {
        guard url.isFileURL else {
            throw NetworkError(
                .fileNotWritable, reason: "the download's target is not a file URL: \(url.withoutSecrets)")
        }
        var isFolder: ObjCBool = false
        if rule != .uniqueName, FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) {
            if isFolder.boolValue { throw fault(EISDIR) }
            if rule == .fail { throw fault(EEXIST) }
        }
        guard url.lastPathComponent.utf8.count <= FileName.longest else { throw fault(ENAMETOOLONG) }
        let folder = url.deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) else { throw fault(ENOENT) }
        guard isFolder.boolValue else { throw fault(ENOTDIR) }
        guard access(folder, W_OK) == 0 else { throw fault(errno) }
        if checksum != nil { _ = try MessageDigest(.sha256) }
    }

    /// Writes a body, and moves the complete file to its target.
    ///
    /// - Returns: The URL of the file.
    func write(_ body: IncomingBody, of response: HTTPResponse) async throws -> URL {
        defer { response.request.parts.download?.finish() }  // after the file is closed
        try check()
        let name = isContinued ? part : hiddenSibling("\(UUID().uuidString).part")
        let file = try PartFile(name, isLocked: resuming != .never, mayExist: isContinued, fault)
        defer { file.close() }
        let isContinuable = try begin(file, response)
        let pause = response.request.parts.transfer?.downloadPause
        // If only this call continues the part, the part is kept only after a pause.
        var isKept: Bool { isContinuable && (resuming != .never || pause?.wasInterrupted == true) }
        do {
            try await PauseGate.passing(pause) {
                for try await chunk in body {
                    try CallScope.check()
                    try file.append(chunk)
                }
            }
            try check(file, for: response)
            if isDurable { try file.synchronize() }
        } catch {
            if !isKept { remove(name) }
            throw error
        }
        do {
            if let checksum { try await checksum.verify(file) }
            // The file with this name must still be the file that was written here; another process may have replaced
            // it.
            guard file.isNamed(name) else { throw fault(ENOENT) }
            file.publish()
            let target = try moveToTarget(name)
            // The bytes of the file are already on the disk, so a failure to synchronize the folder is not an error.
            if isDurable { try? synchronizeFolder(of: url.path) }
            return target
        } catch {
            let isWrong = (error as? NetworkError)?.kind == .checksumMismatch
            if isWrong || !isKept { remove(name) }
            throw error
        }
    }

    /// Prepares the file for the body: truncates it to the start of the received range, or empties it.
    ///
    /// - Returns: True if the file can be resumed. The file then stays if the download fails.
    private func begin(_ file: PartFile, _ response: HTTPResponse) throws -> Bool {
        guard isContinued else { return false }
        if isRest(response) {
            guard let point, let start = response.headers.contentRange?.first, start <= file.size,
                response.request.headers[.ifRange] == point.validator, point.isContinued(by: response, at: start)
            else {
                throw NetworkError(
                    .malformedResponse,
                    reason: "the server sent a part of the content that does not match the requested range")
            }
            try file.truncate(to: start)
            return true
        }
        // The file is emptied before the new description is written, so that a description never belongs to the bytes
        // of other content.
        try file.truncate(to: 0)
        removeNote()
        let content = response.request.parts.download?.contentName ?? contentName(response.request.url)
        guard let point = ResumePoint(response, content: content) else { return false }
        guard writeNote(try JSONEncoder().encode(point)) else {
            let code = errno
            removeNote()
            throw fault(code)
        }
        return true
    }

    /// Writes the description, which only its owner may read. If this fails, `errno` has the reason.
    private func writeNote(_ bytes: Data) -> Bool {
        let file = open(newNote.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return false }
        guard writeFile(file, bytes, at: 0) else {
            let code = errno
            close(file)
            errno = code
            return false
        }
        return close(file) == 0 && rename(newNote.path, note.path) == 0
    }

    /// Removes the description, and the new description that a process was writing when it was terminated.
    private func removeNote() {
        unlink(note.path)
        unlink(newNote.path)
    }

    /// Whether a response is the rest of the file. If false and the response is partial, the app itself has asked for
    /// this range.
    private func isRest(_ response: HTTPResponse) -> Bool {
        response.status == .partialContent && (resuming != .never || response.request.parts.download?.isRest == true)
    }

    /// Checks that the file is complete, if the server has stated the length.
    private func check(_ file: PartFile, for response: HTTPResponse) throws {
        let length = response.statedLength
        guard let total = isRest(response) ? response.headers.contentRange?.total : length else { return }
        guard file.size != total else { return }
        throw NetworkError(.truncatedBody, reason: "the file has \(file.size) of \(total) bytes")
    }

    /// Returns the name of the content at a URL. A response can continue a part only if the content of both has the
    /// same name.
    func contentName(_ url: URL) -> String {
        if case .content(let name) = resuming { return name }
        return "\(url.scheme ?? "")://\(url.host ?? ""):\(url.port ?? 0)\(url.path(percentEncoded: true))"
    }

    private func remove(_ name: URL) {
        // While the part still has its name and its lock, the description cannot belong to another download, so it is
        // removed first.
        if isContinued { removeNote() }
        unlink(name.path)
    }
}
