import Foundation

extension NetworkRequesting {
    /// Gives up an interrupted upload of a file (``HTTPBody/resumable(_:)``): asks the server to discard the bytes that
    /// it has received, and removes the note beside the file. The file must still exist; its content may have changed.
    ///
    /// The call is made as any other call of the endpoint, with its adapters, its token and its retries. If the server
    /// refuses to end the upload (403, 405, 501), only the note is removed.
    ///
    /// - Returns: Whether there was a note. If there was none, nothing is sent.
    /// - Throws: ``NetworkError/Kind/invalidRequest`` if the body of the endpoint is not resumable;
    ///   ``NetworkError/Kind/uploadRefused`` if the upload is in progress (cancel it first), or if the note belongs to
    ///   another user, another URL or other metadata; otherwise, the errors of a call. After an error, the note is
    ///   kept.
    @discardableResult
    public func discardUpload(of endpoint: some Endpoint) async throws -> Bool {
        // If the body cannot be encoded, the call below throws the error.
        let file = try? endpoint.body.encoded().upload?.url
        if let file, access(UploadNote.place(beside: file).path, F_OK) != 0 { return false }
        var settings = RequestSettings()
        settings.discardsUpload = true
        let statuses = (200..<300).map { HTTPStatus($0) } + TusStatus.gone + TusStatus.cannotDelete
        settings.validators = [.status(Set(statuses))]
        try await request(endpoint, as: .void, with: settings)
        return true
    }
}
