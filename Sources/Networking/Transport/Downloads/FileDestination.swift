public import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Where a download goes, and what happens to a file that is there already.
///
/// The bytes are written to another file in the target's folder, which replaces the target in one step when it is
/// complete: the target is never a part of a file.
public struct FileDestination: Sendable {
    /// What happens to a file that is there already.
    public enum OverwriteRule: Hashable, Sendable {
        /// The call ends with ``NetworkError/Kind/fileNotWritable`` before anything is sent, and the file stays.
        case fail
        /// It is replaced.
        case replace
        /// It stays, and the new one gets a number: `report 2.pdf`.
        case uniqueName
    }

    /// Whether an incomplete download is resumed by a later attempt, call or process.
    ///
    /// The part stays in the target's folder, with a small file that describes it. It is resumed by `Range` and
    /// `If-Range` ([RFC 9110, section 13.1.5](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5)) if the server
    /// confirms, with a strong validator, that the content is still the same; otherwise the download restarts.
    ///
    /// While the download runs the part is locked. On Apple's systems do not put such a target into a container that
    /// apps share: an app that is suspended with a locked file there is ended.
    public enum ResumeRule: Hashable, Sendable {
        /// It restarts, and a failed download leaves no part.
        case never
        /// It resumes a part that came from the same address; the query is not compared.
        case sameAddress
        /// It resumes a part that was downloaded under the same name, from any address: for new URLs of the same
        /// content.
        case content(String)
    }

    /// The target.
    package let url: URL
    /// What happens to a file that is there already.
    let rule: OverwriteRule
    /// Whether the bytes have to be on the disk, and not only handed to the system, before the call is answered.
    let isDurable: Bool
    /// Whether an incomplete download is resumed.
    let resuming: ResumeRule
    /// What the bytes must add up to; another sum is a ``NetworkError/Kind/checksumMismatch``, and nothing of the file
    /// stays.
    let checksum: FileDestination.Checksum?

    /// Makes a destination. The target's folder has to be there.
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

    /// How many bytes of an incomplete download can be resumed.
    public var partialSize: Int64 {
        guard point != nil, let attributes = try? FileManager.default.attributesOfItem(atPath: part.path),
            // What has another name by now is a whole file of somebody's.
            (attributes[.referenceCount] as? NSNumber)?.intValue ?? 1 < 2
        else { return 0 }
        return (attributes[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// Removes what is left of a download that was cut off; what a download that is under way has, stays.
    public func discardPart() {
        guard let file = try? PartFile(part, isLocked: true, fault) else { return }
        defer { file.close() }
        remove(part)
    }

    /// Where the bytes are until all of them are there.
    var part: URL { beside("part") }

    /// The small file that describes the part.
    private var note: URL { beside("resume") }

    private func beside(_ ending: String) -> URL {
        url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).\(ending)")
    }

    /// What is known of the part.
    var point: ResumePoint? {
        get { try? JSONDecoder().decode(ResumePoint.self, from: Data(contentsOf: note)) }
    }

    /// Checks what can be checked before anything is sent: the target is not a folder, its own folder is there and can
    /// be written to.
    func check() throws {
        guard url.isFileURL else {
            throw NetworkError(.fileNotWritable, reason: "the download's target is no file URL: \(url.withoutSecrets)")
        }
        var isFolder: ObjCBool = false
        if rule != .uniqueName, FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) {
            if isFolder.boolValue { throw fault(EISDIR) }
            if rule == .fail { throw fault(EEXIST) }
        }
        let folder = url.deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) else { throw fault(ENOENT) }
        guard isFolder.boolValue else { throw fault(ENOTDIR) }
        guard access(folder, W_OK) == 0 else { throw fault(errno) }
        if checksum != nil { _ = try SHA256Digest() }
    }

    /// Writes a body and puts it in its place.
    ///
    /// - Returns: Where it is.
    func write(_ body: IncomingBody, of response: HTTPResponse) async throws -> URL {
        defer { response.request[option: FileDownload.self]?.finish() }  // after the file is closed
        try check()
        let name = resuming == .never ? beside("\(UUID().uuidString).part") : part
        let file = try PartFile(name, isLocked: resuming != .never, fault)
        defer { file.close() }
        let isKept = try begin(file, response)
        do {
            try await PauseGate.passing(response.request[option: PauseOption.self]) {
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
            if let checksum { try await checksum.verify(name) }
            // What is put in its place is what was written here, whatever became of the name.
            guard file.isNamed(name) else { throw fault(ENOENT) }
            let target = try putInPlace(name)
            if isDurable { synchronizeFolder() }
            return target
        } catch {
            let isWrong = (error as? NetworkError)?.kind == .checksumMismatch
            if isWrong || !isKept { remove(name) }
            throw error
        }
    }

    /// Makes the file ready for what comes: the rest of a part, or all of it.
    ///
    /// - Returns: Whether the file is worth keeping where the download is cut off.
    private func begin(_ file: PartFile, _ response: HTTPResponse) throws -> Bool {
        guard resuming != .never else { return false }
        if response.status == .partialContent {
            guard let point, let start = response.headers.contentRange?.first, start <= file.size,
                response.request.headers[.ifRange] == point.validator, point.isContinued(by: response, at: start)
            else {
                throw NetworkError(.malformedResponse, reason: "the answer is a part that nobody asked for")
            }
            try file.truncate(to: start)
            return true
        }
        // In this order: a note never tells of bytes that are not its own.
        try file.truncate(to: 0)
        unlink(note.path)
        let content = response.request[option: ContentName.self] ?? contentName(response.request.url)
        guard let point = ResumePoint(response, content: content) else { return false }
        do { try JSONEncoder().encode(point).write(to: note, options: .atomic) } catch {
            throw fault(((error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code.rawValue ?? EIO)
        }
        return true
    }

    /// All of it must be there: where the server has said how much that is.
    private func check(_ file: PartFile, for response: HTTPResponse) throws {
        let length = response.headers.isContentEncoded ? nil : response.headers.contentLength.map(Int64.init)
        let isRest = response.status == .partialContent && resuming != .never
        guard let total = isRest ? response.headers.contentRange?.total : length else { return }
        guard file.size != total else { return }
        throw NetworkError(.truncatedBody, reason: "the file has \(file.size) bytes of \(total)")
    }

    /// The name by which the part and a later response are known to belong together.
    func contentName(_ url: URL) -> String {
        if case .content(let name) = resuming { return name }
        return "\(url.scheme ?? "")://\(url.host ?? ""):\(url.port ?? 0)\(url.path(percentEncoded: true))"
    }

    private func putInPlace(_ part: URL) throws -> URL {
        var target = url
        if rule == .replace {
            guard rename(part.path, url.path) == 0 else { throw fault(errno) }
        } else {
            var number = 2
            // A link fails where there is a file: nothing that came meanwhile is overwritten.
            while !give(part, the: target) {
                guard errno == EEXIST, rule == .uniqueName, number < 10_000 else { throw fault(errno) }
                target = numbered(number)
                number += 1
            }
        }
        if resuming != .never { unlink(note.path) }
        return target
    }

    /// Has the system put the file's new name on the disk, too. The bytes are there; a folder that cannot be opened for
    /// that is no failure.
    private func synchronizeFolder() {
        let folder = open(url.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// Gives a file a name that nothing has.
    ///
    /// - Returns: False if something has it, and where it cannot be given; `errno` tells.
    private func give(_ part: URL, the name: URL) -> Bool {
        if link(part.path, name.path) == 0 {
            unlink(part.path)
            return true
        }
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { return false }
        // A file system without links: the name is claimed with an empty file first.
        let claim = open(name.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard claim >= 0 else { return false }
        close(claim)
        guard rename(part.path, name.path) != 0 else { return true }
        let code = errno
        unlink(name.path)  // nothing that is not the whole is ever there
        errno = code
        return false
    }

    private func numbered(_ number: Int) -> URL {
        let name = url.deletingPathExtension().lastPathComponent
        let ending = url.pathExtension.isEmpty ? "" : ".\(url.pathExtension)"
        return url.deletingLastPathComponent().appendingPathComponent("\(name) \(number)\(ending)")
    }

    private func remove(_ name: URL) {
        unlink(name.path)
        if resuming != .never { unlink(note.path) }
    }

    private func describe(_ code: Int32) -> String {
        let name = url.lastPathComponent
        let folder = url.deletingLastPathComponent()
        if code == EWOULDBLOCK { return "another download to \(name) is under way" }
        if code == ENOENT, !FileManager.default.fileExists(atPath: folder.path) {
            return "the file \(name) cannot be written: there is no folder \(folder.lastPathComponent)"
        }
        return "the file \(name) cannot be written: \(String(cString: strerror(code)))"
    }

    private func fault(_ code: Int32) -> NetworkError {
        NetworkError(
            .fileNotWritable,
            reason: describe(code),
            underlying: POSIXErrorCode(rawValue: code).map { POSIXError($0) })
    }
}
