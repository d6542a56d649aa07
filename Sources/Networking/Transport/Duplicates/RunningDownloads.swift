/// The downloads into files that are in progress. A file has one writer: an equal download is refused, or takes the
/// place of the one in progress, and the two never share a transfer.
struct RunningDownloads: Sendable {
    private let downloads = Locked<[Int: Few<RunningDownload>]>([:])

    /// Sends the request of a download, unless an equal one is in progress and the policy keeps that.
    ///
    /// - Throws: What the base throws; ``NetworkError/Kind/cancelled`` if an equal download is kept, or takes its
    ///   place.
    func send(
        _ request: HTTPRequest, into file: FileDownload, delivering delivery: BodyDelivery, over base: any Transport,
        by policy: DuplicateRequestPolicy, ignoring ignored: [HTTPHeader.Name]
    ) async throws -> HTTPResponse {
        // What is asked for depends on how much of the file is there.
        let ignored = ignored + [.range, .ifRange]
        guard let key = DuplicateKey(request, delivering: delivery, hashingCredentials: false) else {
            return try await base.send(request, delivering: delivery)
        }
        var request = request
        let download = RunningDownload(key, of: file)
        while let other = begin(download, ignoring: ignored) {
            switch policy.decision(running: other.key.request, new: request).action {
            case .share(.earlier):
                throw SharedTransfer.superseded("an equal download is in progress")
            case .restart(.latest), .share(.latest):
                try await other.leave()
                // What was there of the file may be another part by now, or none: all of it is asked for.
                request.headers.removeAll { $0.name == .range || $0.name == .ifRange }
            case .separate, .share, .restart:
                return try await base.send(request, delivering: delivery)
            }
        }
        return try await download.send(request, delivering: delivery, over: base) { remove(download) }
    }

    /// Notes a download.
    ///
    /// - Returns: An equal one of another attempt, which has to be decided about first; nil if the download is noted.
    private func begin(_ download: RunningDownload, ignoring ignored: [HTTPHeader.Name]) -> RunningDownload? {
        downloads.withLock { downloads in
            let equal = downloads[download.key.hash]?.first {
                $0.key.isDuplicate(of: download.key, ignoring: ignored) && $0.file !== download.file
            }
            if equal == nil { downloads[download.key.hash, default: Few()].append(download) }
            return equal
        }
    }

    private func remove(_ download: RunningDownload) {
        downloads.withLock { downloads in
            guard var found = downloads.removeValue(forKey: download.key.hash) else { return }
            found.remove { $0 === download }
            if !found.isEmpty { downloads[download.key.hash] = found }
        }
    }
}

/// A download in progress: from its request until its file is in its place.
final class RunningDownload: Sendable {
    let key: DuplicateKey
    /// The same for all requests of an attempt, which may send several, one after another.
    let file: FileDownload
    private let gate = PauseGate()
    private let end = Settlement<Void>()

    init(_ key: DuplicateKey, of file: FileDownload) {
        self.key = key
        self.file = file
    }

    /// Sends the request.
    ///
    /// - Parameter forget: Is called once the download is over: when its file is in its place or closed, or when its body
    ///   is released and no file was begun, as that of an error is.
    func send(
        _ request: HTTPRequest, delivering delivery: BodyDelivery, over base: any Transport,
        whenOver forget: @escaping @Sendable () -> Void
    ) async throws -> HTTPResponse {
        end.observe { _ in forget() }
        file.observeEnd { [end] in end.settle(.success(())) }
        do {
            var response = try await waiting { try await base.send(request, delivering: delivery) }
            guard case .stream(let body) = response.content else {
                end.settle(.success(()))  // all of it is there
                return response
            }
            let release = BodyRelease(end)
            response.content = .stream(
                body.pulled { pull in
                    _ = release
                    return try await self.waiting(pull)
                })
            return response
        } catch {
            end.settle(.success(()))
            throw error
        }
    }

    /// Ends the download for an equal one, and waits until it is over.
    func leave() async throws {
        _ = gate.pause()
        let isOver = Settlement<Void>()
        end.observe { isOver.settle($0) }
        try await isOver.value()
    }

    private func waiting<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        do { return try await PauseGate.passing(gate, work) } catch {
            guard !gate.isPaused else { throw SharedTransfer.superseded("a newer equal download took its place") }
            throw error
        }
    }

    /// Ends the download when its body is released.
    private final class BodyRelease: Sendable {
        private let end: Settlement<Void>

        init(_ end: Settlement<Void>) { self.end = end }

        deinit { end.settle(.success(())) }
    }
}
