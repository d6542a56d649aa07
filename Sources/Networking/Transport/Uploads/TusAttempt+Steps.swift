import Foundation

/// The steps. Each sends one request.
extension TusAttempt {
    /// Asks what the server offers.
    func discover() async throws -> Step {
        let response = try await exchange(make(.options, request.url))
        if response.isRefusal { return .end(ending(response)) }
        guard response.status.isSuccessful || TusStatus.unknown.contains(response.status) else {
            return .end(ending(response))
        }
        guard let versions = response.headers[.tusVersion] ?? response.headers[.tusResumable] else {
            guard resumption.allowsPlain else { return .create(TusOffer()) }
            try request.parts.transfer?.pause?.close()
            note.clear()
            upload.end()
            return .end(nil)
        }
        guard versions.members.contains(TusOffer.version) else {
            let found = String(versions.prefix(100)).onOneLine
            throw TusAttempt.refusal("expected version 1.0.0 of tus, found \(found)", response)
        }
        if let most = response.headers.bytes(.tusMaximumSize), size > most {
            throw TusAttempt.refusal(
                "the server accepts at most \(most) bytes, and the file has \(size) bytes", response)
        }
        return .create(TusOffer(response.headers))
    }

    /// Creates an upload.
    ///
    /// - Parameter isAgain: Whether the server has forgotten an upload that it created for this call. If true, the
    ///   request has no idempotency key, because the server might otherwise return the forgotten upload.
    func create(_ offer: TusOffer, isAgain: Bool) async throws -> Step {
        // This request never contains the whole file. Otherwise, if its response were lost, the next attempt would
        // complete a second upload.
        let count = min(resumption.partSize ?? TusAttempt.firstPartSize, size - 1)
        let isFirstPart = resumption.sendsFirstPart && offer.takesFirstPart && count > 0
        var creation = make(.post, request.url, body: isFirstPart ? .bytes(0..<count, of: upload.file) : .empty)
        creation.headers[.uploadLength] = "\(size)"
        creation.headers[.uploadMetadata] = resumption.metadataField ?? request.headers[.uploadMetadata]
        if !isAgain { creation.headers[.idempotencyKey] = request.headers[.idempotencyKey] }
        if isFirstPart { creation.headers[.contentType] = TusAttempt.mediaType }
        if size == 0 { upload.end() }  // an empty file is complete after its creation
        let response = try await exchange(creation)
        guard response.status.isSuccessful, !response.isRefusal else { return .end(ending(response)) }
        let url = try location(of: response)
        note.write(
            UploadNote.Content(
                upload: url, name: upload.name, file: upload.file.identity, takesChecksums: offer.takesChecksums,
                expires: response.headers.uploadExpiry))
        guard size > 0 else { return complete(response) }
        guard isFirstPart else { return .send(from: 0) }
        guard let offset = response.headers.bytes(.uploadOffset) else { return .ask }
        guard offset <= count else { throw wrongOffset("at most \(count)", response) }
        return .send(from: offset)
    }

    /// Returns the URL of the upload that was created.
    private func location(of response: HTTPResponse) throws -> URL {
        guard response.request.method == .post, response.headers[.tusResumable] != nil,
            let location = response.headers[.location]
        else {
            throw TusAttempt.refusal(
                "expected Tus-Resumable and the Location of the upload, found another response; "
                    + "the server may not know tus", response)
        }
        do throws(Redirect.TargetFault) {
            let url = try Redirect.target(location, of: response)
            guard url != response.request.url else {
                throw Redirect.TargetFault(reason: "is the URL of the request itself")
            }
            // After a redirect, another origin must not choose a URL to which the token is sent.
            let hasLeft =
                response.request.origin != request.origin
                || response.redirects.contains {
                    $0.request.origin != request.origin
                }
            guard !hasLeft || HTTPOrigin(url) != request.origin else {
                throw Redirect.TargetFault(reason: "has the origin that redirected the request to another origin")
            }
            return url
        } catch {
            throw TusAttempt.refusal("its Location \(error.reason)", response)
        }
    }

    /// Asks for the offset of the upload.
    func ask() async throws -> Step {
        guard let content = note.content else { return .discover }
        let response = try await exchange(make(.head, content.upload))
        if response.isRefusal { return .end(ending(response)) }
        if response.status == .locked { throw busy(response) }
        // A server may also use 403 for an upload that it does not know, but a gateway sends 403 for other reasons.
        if response.status == .forbidden, content.isSent { return .end(ending(response)) }
        if TusStatus.gone.contains(response.status) || response.status == .forbidden {
            return try forgotten(response, wasSent: content.isSent)
        }
        guard response.status.isSuccessful else { return .end(ending(response)) }
        if let length = response.headers.bytes(.uploadLength), length != size { return .discover }
        let most = content.hasReachedEnd ? size : max(size - 1, 0)
        guard let offset = response.headers.bytes(.uploadOffset), offset <= most else {
            throw wrongOffset("from 0 to \(most)", response)
        }
        note.change(content.upload) {
            $0.expires = response.headers.uploadExpiry ?? $0.expires
            if offset < size { $0.isSent = false }
        }
        move(to: offset)
        guard offset == size else { return .send(from: offset) }
        request.progress?.beginUpload(at: Int64(size), of: Int64(size))
        return complete(response)
    }

    /// Sends the next bytes.
    func sendPart(_ range: Range<Int>) async throws -> Step {
        guard let content = note.content else { return .discover }
        let (start, end, note, url) = (range.lowerBound, range.upperBound, note, content.upload)
        let noteEnd: @Sendable () -> Void = { note.change(url) { ($0.isSent, $0.hasReachedEnd) = (true, true) } }
        let beforeEnd = end == size ? noteEnd : nil
        var part = make(.patch, url, body: .bytes(range, of: upload.file, beforeEnd: beforeEnd))
        part.headers[.contentType] = TusAttempt.mediaType
        part.headers[.uploadOffset] = "\(start)"
        if resumption.partSize != nil, content.takesChecksums {
            part.headers[.uploadChecksum] = try await checksum(range)
        }
        let response = end == size ? try await sendLast(part) : try await exchange(part)
        // After one of these statuses, an earlier request may still be in progress, and may deliver all bytes.
        let isElsewhere = content.hasReachedEnd && [.conflict, .locked].contains(response.status)
        if !content.isSent, response.status.isClientError, !isElsewhere { note.change(url) { $0.isSent = false } }
        if response.isRefusal { return .end(ending(response)) }
        switch response.status {
        case .locked: throw busy(response)
        case .conflict, TusStatus.checksumMismatch: return .ask
        case let status where TusStatus.gone.contains(status):
            return try forgotten(response, wasSent: content.isSent)
        case let status where !status.isSuccessful: return .end(ending(response))
        default: break
        }
        guard let offset = response.headers.bytes(.uploadOffset) else { return .ask }
        guard (start...end).contains(offset) else { throw wrongOffset("from \(start) to \(end)", response) }
        note.change(url) {
            $0.expires = response.headers.uploadExpiry ?? $0.expires
            if offset < size { $0.isSent = false }
        }
        if move(to: offset) { request.parts.transfer?.receive(progress: response) }
        return offset == size ? complete(response) : .send(from: offset)
    }

    /// Notes the position that the server has named.
    ///
    /// - Returns: Whether the server has more bytes than it has reported before.
    @discardableResult
    private func move(to offset: Int) -> Bool {
        guard let content = note.content, offset > content.position else { return false }
        note.change(content.upload) { $0.position = offset }
        upload.move()
        return true
    }

    /// Sends the last bytes. The response may be the response of the call.
    private func sendLast(_ part: HTTPRequest) async throws -> HTTPResponse {
        var part = part
        part.continueDownload(of: request)
        var response = try await send(part, delivering: delivery)
        response.decideRefusal()
        return response
    }

    /// Removes the note, because the upload is complete. A later failure does not restart the upload.
    private func complete(_ response: HTTPResponse) -> Step {
        try? request.parts.transfer?.pause?.close()
        note.clear()
        upload.complete()
        return .end(ending(response))
    }

    /// Returns the step that follows if the server no longer knows the upload.
    private func forgotten(_ response: HTTPResponse, wasSent: Bool) throws -> Step {
        if response.status != .forbidden { note.clear() }
        guard !wasSent else {
            upload.end()
            throw TusAttempt.refusal(
                "all bytes were sent, the response was lost, and the server does not know the upload any more; "
                    + "it may be complete", response)
        }
        return .discover
    }

    /// Returns the error of a call if the server is still working on an earlier request of the upload. The connection
    /// of that request was lost. The retry policy decides when the call asks again.
    func busy(_ response: HTTPResponse) -> NetworkError {
        NetworkError(
            .notProcessed, reason: "the server is still working on an earlier request of the upload (423)",
            request: response.request, response: response.withoutStream)
    }

    private func wrongOffset(_ expected: String, _ response: HTTPResponse) -> NetworkError {
        let found = response.headers[.uploadOffset].map { String($0.prefix(40)).onOneLine } ?? "none"
        return TusAttempt.refusal("expected a response with an Upload-Offset \(expected), found \(found)", response)
    }

    /// Returns the value of `Upload-Checksum`; nil if the system cannot compute the checksum. The field is optional.
    private func checksum(_ range: Range<Int>) async throws -> String? {
        guard let digest = try? MessageDigest(.sha1) else { return nil }
        let reader = try HTTPBody.bytes(range, of: upload.file).open()
        defer { reader.close() }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while let count = try await reader.next(into: &buffer) {
            digest.update(Data(buffer[..<count]))
            try CallScope.check()
        }
        return "sha1 \(digest.finish().base64EncodedString())"
    }

    private static let mediaType = "application/offset+octet-stream"
    /// The number of bytes that are sent with the request that creates an upload.
    private static let firstPartSize = 1 << 20
}
