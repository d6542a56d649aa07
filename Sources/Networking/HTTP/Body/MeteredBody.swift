import Foundation

extension HTTPRequest {
    /// Opens the body for one hop; where somebody counts the call's bytes, the reader tells. A transport of yours
    /// opens bodies with this.
    ///
    /// - Throws: What encoding or the source throws.
    public func openBody() throws -> any HTTPBody.Reader {
        let reader = try body.open()
        guard let meter = self[option: ProgressOption.self], !body.isEmpty else { return reader }
        meter.beginUpload(total: body.length)
        return MeteredBodyReader(reader, meter)
    }
}

extension HTTPResponse {
    /// The response whose body, where somebody counts and it is a success, tells what of it is taken.
    func metered() -> HTTPResponse {
        guard let meter = request[option: ProgressOption.self], status.isSuccessful else { return self }
        switch content {
        case .data(let data):
            meter.beginDownload(at: Int64(data.count), of: Int64(data.count))
            return self
        case .file:
            return self
        case .stream(let body):
            // What nobody asked for in parts is not one, whatever the server says.
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

/// Ends a meter when the body that it counts is let go.
private final class MeterCompletion: Sendable {
    let meter: ProgressMeter

    init(_ meter: ProgressMeter) {
        self.meter = meter
    }

    deinit {
        meter.finishStream()
    }
}

/// Tells how much of a body has been read.
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
