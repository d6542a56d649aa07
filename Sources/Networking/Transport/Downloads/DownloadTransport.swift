import Foundation

/// A transport for downloads. It first checks whether the file can be written. If a part of the file exists, it
/// requests only the missing bytes.
///
/// The download restarts if the server does not continue with the same content. The reason may be that the content has
/// changed, that the server does not support ranges, or that the range cannot be satisfied.
struct DownloadTransport: Transport {
    let base: any Transport

    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        guard let download = request.parts.download else { return try await base.send(request, delivering: delivery) }
        return try await send(request, delivering: delivery, as: download)
    }

    func reset() async { await base.reset() }

    // Not inlined, so that a request that is not a download does not need the memory of this function while it waits.
    @inline(never)
    func send(
        _ request: HTTPRequest, delivering delivery: BodyDelivery, as download: Download
    ) async throws -> HTTPResponse {
        try download.destination.check()
        return try await PauseGate.passing(request.parts.transfer?.downloadPause) {
            download.destination.isContinued
                ? try await resume(request, delivery, download)
                : try await base.send(request, delivering: delivery)
        }
    }

    private func resume(
        _ request: HTTPRequest, _ delivery: BodyDelivery, _ download: Download
    ) async throws -> HTTPResponse {
        let destination = download.destination
        var whole = request
        let isPossible = request.method == .get && !request.headers.contains(.range)
        if destination.resuming == .never {
            guard isPossible else { return try await base.send(request, delivering: delivery) }
        } else {
            try NetworkError.require(
                isPossible, "download: only a GET request that sets no Range field can be resumed")
            // A range counts encoded bytes. Without a content coding, these are the bytes of the file.
            whole.headers[.acceptEncoding] = "identity"
        }
        let size = destination.partialSize
        if size > 0, let point = destination.point, point.content == download.contentName,
            let rest = try await rest(of: whole, from: point, after: size, delivery)
        {
            return rest
        }
        download.isRest = false
        return try await base.send(whole, delivering: delivery)
    }

    /// Requests the missing bytes.
    ///
    /// - Returns: The response; nil if the download must restart. In that case, the response to the range request has
    ///   been released.
    private func rest(
        of whole: HTTPRequest, from point: ResumePoint, after size: Int64, _ delivery: BodyDelivery
    ) async throws -> HTTPResponse? {
        let start = point.start(after: size)
        var rest = whole
        rest.headers[.acceptEncoding] = "identity"
        rest.headers[.range] = "bytes=\(start)-"
        rest.headers[.ifRange] = point.validator
        rest.parts.download?.isRest = true
        let response = try await base.send(rest, delivering: delivery)
        switch response.status {
        case .partialContent:
            guard point.isContinued(by: response, at: start) else { return nil }
            return CappedParts(of: response, to: rest, from: point, over: base)?.response ?? response
        case .rangeNotSatisfiable: return nil
        default: return response.isPart ? nil : response  // the whole content, or an error
        }
    }
}

/// One attempt to write a response into a file. It is the part of a request that belongs to the downloads.
final class Download: HTTPRequest.Part {
    /// The file, and the rules for it.
    let destination: FileDestination
    /// The name that identifies the content. It is computed before redirects.
    let contentName: String
    private let end = Settlement<Void>()
    private let hasRange = Locked(false)

    /// Whether the last request of the attempt asks for the rest of a file, and not for a range that the app has set.
    var isRest: Bool {
        get { hasRange.withLock { $0 } }
        set { hasRange.withLock { $0 = newValue } }
    }

    /// - Parameter identity: What makes the request different from requests of other users.
    init(to destination: FileDestination, from url: URL, for identity: [String]) {
        self.destination = destination
        contentName = ([destination.contentName(url)] + identity).joined(separator: " ")
    }

    var outsideOrigin: Download? { self }
    var outsideCall: Download? { nil }
    var identity: [String] { [] }

    /// Reports that the download has ended, and calls the closures that were passed to ``observeEnd(_:)``. A download
    /// ends when its file is at its target and closed, or when the file is closed after a failure. It also ends when
    /// the attempt fails before the file is created.
    func finish() { end.settle(.success(())) }

    /// Calls a closure when the download has ended, or immediately if it has ended already.
    func observeEnd(_ action: @escaping @Sendable () -> Void) { end.observe { _ in action() } }
}

extension HTTPRequest.Parts {
    /// The download of the attempt; nil if the response is not written into a file.
    var download: Download? { self[Download.self] }
}

extension HTTPRequest {
    /// Begins an attempt to write the response of the request into a file.
    mutating func beginDownload(to destination: FileDestination) {
        parts[Download.self] = Download(to: destination, from: url, for: parts.identity())
    }

    /// Excludes the response of the request from the download: it is not written into the file.
    mutating func endDownload() { parts[Download.self] = nil }

    /// Makes this request part of the same download as `other`, which is a request of the same attempt.
    mutating func continueDownload(of other: HTTPRequest) { parts[Download.self] = other.parts[Download.self] }
}
