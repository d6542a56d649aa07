import Foundation

extension HTTPRequest {
    /// The meter that counts the bytes of the call, for transports; nil if the bytes are not observed.
    public var progress: ProgressMeter? { parts.transfer?.meter }

    /// Opens the body to send the request once. If the call has a ``ProgressMeter``, the reader reports the bytes to
    /// the meter. Open bodies with this method in a custom transport.
    ///
    /// - Throws: The error of the encoding or of the source.
    public func openBody() throws -> any HTTPBody.Reader {
        let reader = try body.open()
        guard let meter = progress, !body.isEmpty else { return reader }
        meter.beginUpload(total: body.length)
        return MeteredBodyReader(reader, meter)
    }
}

extension HTTPResponse {
    /// Returns the response. If the call has a ``ProgressMeter`` and the status is a success, the body of the response
    /// reports its bytes to the meter.
    func metered() -> HTTPResponse {
        guard let meter = request.progress, status.isSuccessful else { return self }
        switch content {
        case .data(let data):
            meter.beginDownload(at: Int64(data.count), of: Int64(data.count))
            return self
        case .file:
            return self
        case .stream(let body):
            // `Content-Range` is ignored if the request has no `Range`.
            let range = request.headers.contains(.range) ? headers.contentRange : nil
            let start = range?.first ?? 0
            let length = headers.contains(.contentEncoding) ? nil : headers.contentLength.map(Int64.init)
            let total = range?.total ?? length.map { start.addingReportingOverflow($0).partialValue }
            meter.beginDownload(at: start, of: total)
            let end = MeterCompletion(meter)
            var response = self
            response.content = .stream(body.onEach { end.meter.noteReceived($0.count) })
            return response
        }
    }
}

/// Ends a meter when the response body that the meter counts is released.
private final class MeterCompletion: Sendable {
    let meter: ProgressMeter

    init(_ meter: ProgressMeter) {
        self.meter = meter
    }

    deinit {
        meter.finishStream()
    }
}

/// Reports to a meter how many bytes of a body have been read.
private final class MeteredBodyReader: HTTPBody.Reader {
    private let base: any HTTPBody.Reader
    private let meter: ProgressMeter

    init(_ base: any HTTPBody.Reader, _ meter: ProgressMeter) {
        self.base = base
        self.meter = meter
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> HTTPBody.ReadResult {
        let result = try base.read(into: buffer)
        if case .bytes(let count) = result { meter.noteSent(count) }
        return result
    }

    func onReady(_ wake: @escaping @Sendable () -> Void) { base.onReady(wake) }

    func close() { base.close() }
}
