import Foundation

/// Sends resumable uploads. It asks the server for the offset of the upload, and sends the missing bytes.
struct UploadTransport {
    let base: any Transport

    @inline(never)  // so that a request that is not an upload does not need the memory of this function while it waits
    func send(
        _ request: HTTPRequest, delivering delivery: BodyDelivery, as upload: UploadOrder
    ) async throws -> HTTPResponse {
        if upload.isComplete {
            throw TusAttempt.refusal(
                "the server has all bytes of the file, and only a new call can send the file again")
        }
        let note = try UploadNote(of: upload, at: (request.parts.transfer?.clock ?? .continuous).date())
        defer { note.close() }
        let attempt = TusAttempt(request, delivery, upload, note, over: base)
        if upload.discards { return try await attempt.discard() }
        let response = try await PauseGate.passing(request.parts.transfer?.pause) { try await attempt.send() }
        // The server does not support tus, so the file is sent as a plain upload, which cannot resume.
        guard let response else { return try await base.send(request, delivering: delivery) }
        return response
    }
}

/// The upload of a call. It is the part of a request that belongs to the uploads, and is the same in all attempts.
final class UploadOrder: HTTPRequest.Part {
    private struct State {
        var name: String?
        var memory: UploadNote.Memory?
        var isOver = false
        var isComplete = false
        var hasMoved = false
    }

    let file: ResumableFile
    /// Whether the upload is given up.
    let discards: Bool
    private let state = Locked(State())

    init(_ file: ResumableFile, discards: Bool) { (self.file, self.discards) = (file, discards) }

    /// The name that identifies the combination of URL, metadata and user. Only an upload with the same name resumes.
    var name: String { state.withLock { $0.name } ?? "" }

    /// What the last attempt has noted; nil if it has noted nothing.
    var memory: UploadNote.Memory? {
        get { state.withLock { $0.memory } }
        set { state.withLock { $0.memory = newValue } }
    }

    /// Whether another attempt continues where this one ends. False for a plain upload to a server without tus, and
    /// once the upload is complete.
    var goesOn: Bool { !state.withLock { $0.isOver } }

    /// Whether the server has all bytes. The call does not send them again.
    var isComplete: Bool { state.withLock { $0.isComplete } }

    /// Whether the server has reported more bytes since the retry policy last repeated the call.
    var hasMoved: Bool { state.withLock { $0.hasMoved } }

    /// Notes that another attempt begins.
    func beginAttempt() { state.withLock { $0.isOver = $0.isComplete } }

    /// Notes that the retry policy repeats the call.
    func beginRetry() { state.withLock { $0.hasMoved = false } }

    /// Notes that the server has all bytes.
    func complete() { state.withLock { ($0.isOver, $0.isComplete) = (true, true) } }

    /// Notes that another attempt would restart the upload.
    func end() { state.withLock { $0.isOver = true } }

    /// Notes that more bytes have arrived.
    func move() { state.withLock { $0.hasMoved = true } }

    /// Gives the upload its name, unless it already has a name. The first name stays, because adapters may add
    /// different values to each attempt.
    ///
    /// - Parameters:
    ///   - request: The adapted request, whose fields identify the user. The token of a session does not count, because
    ///     it may be refreshed.
    ///   - url: The URL before the adapters.
    fileprivate func identify(_ request: HTTPRequest, to url: URL) {
        var members = [url.absoluteString, file.resumption.metadataField ?? ""] + request.parts.identity()
        for field in request.headersWithCredentials where field.mayIdentifyUser && field.user == nil {
            members += [field.name.rawValue.lowercased(), field.value]
        }
        // Any of these values may contain a secret, so only a digest is stored.
        let text = members.map { "\($0.utf8.count) \($0)" }.joined(separator: "\n")
        let name = SHA1Digest.of(text).map { UInt64($0).hexadecimal.suffix(2) }.joined()
        state.withLock { $0.name = $0.name ?? name }
    }

    var outsideOrigin: UploadOrder? { self }
    var outsideCall: UploadOrder? { nil }
    var identity: [String] { [] }
}

extension HTTPRequest.Parts {
    /// The upload of the call; nil if the body is not a resumable upload.
    var upload: UploadOrder? { self[UploadOrder.self] }
}

extension HTTPRequest {
    /// Begins an attempt to upload a file.
    ///
    /// - Parameter discards: Whether the attempt asks the server to discard the upload.
    /// - Throws: ``NetworkError/Kind/invalidRequest`` if the request cannot be a resumable upload.
    mutating func beginUpload(_ file: ResumableFile, discards: Bool) throws(NetworkError) {
        try NetworkError.require(
            method == .post, "upload: expected the method POST, which creates an upload, found \(method)")
        let condition = HTTPHeader.Name.conditions.first { headers[$0] != nil }
        try NetworkError.require(
            condition == nil,
            "upload: expected no condition, because the upload has several requests, found \(condition?.rawValue ?? "")"
        )
        if let known = parts.upload, known.file == file { return known.beginAttempt() }
        parts[UploadOrder.self] = UploadOrder(file, discards: discards)
    }

    /// Removes the upload of an earlier request of the call, because this request is not a resumable upload.
    mutating func endUpload() { if parts.upload != nil { parts[UploadOrder.self] = nil } }

    /// Gives the upload its name.
    ///
    /// - Parameter url: The URL before the adapters.
    func identifyUpload(to url: URL) { parts.upload?.identify(self, to: url) }
}
