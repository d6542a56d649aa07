/// The running downloads into files. Two downloads never share a transfer. If an equal download is in progress, the
/// policy decides whether the new download is rejected, replaces the earlier one, or is sent separately.
struct RunningDownloads: Sendable {
    private let downloads = Locked<[Int: Few<RunningDownload>]>([:])

    /// Sends the request of a download, unless the policy lets an equal download in progress continue instead.
    ///
    /// - Throws: The errors of `base`; ``NetworkError/Kind/cancelled`` if an equal download that is in progress
    ///   continues, or if a newer equal download replaces this one.
    func send(
        _ request: HTTPRequest, into file: Download, delivering delivery: BodyDelivery, over base: any Transport,
        by policy: DuplicateRequestPolicy, ignoring ignored: [HTTPHeader.Name]
    ) async throws -> HTTPResponse {
        // The requested range depends on how much of the file exists, so it is not compared. A request for the rest of
        // a file asks for no content coding.
        let ignored = ignored + [.range, .ifRange, .acceptEncoding]
        guard let key = DuplicateKey(request, delivering: delivery, hashingCredentials: false) else {
            return try await base.send(request, delivering: delivery)
        }
        var request = request
        let download = RunningDownload(key, of: file)
        while let other = begin(download, ignoring: ignored) {
            switch policy.choice(running: other.key.request, new: request).action {
            case .share(.earlier):
                throw SharedTransfer.superseded("an equal download is in progress")
            case .restart(.latest), .share(.latest):
                try await other.leave()
                // The partial file may have changed or may no longer exist, so the whole file is requested.
                request.headers.removeAll { $0.name == .range || $0.name == .ifRange }
            case .separate, .share, .restart:
                return try await base.send(request, delivering: delivery)
            }
        }
        return try await download.send(request, delivering: delivery, over: base) { remove(download) }
    }

    /// Registers a download.
    ///
    /// - Returns: Nil if the download has been registered. Otherwise, an equal download of another attempt. The policy
    ///   must then decide about the two downloads.
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

/// A download in progress. The download begins when its request is sent. It ends when its file is at its target, or
/// when the download fails.
final class RunningDownload: Sendable {
    let key: DuplicateKey
    /// The file of the attempt. An attempt may send several requests one after another; all of them have the same file.
    let file: Download
    private let gate = PauseGate()
    private let end = Settlement<Void>()

    init(_ key: DuplicateKey, of file: Download) {
        self.key = key
        self.file = file
    }

    /// Sends the request.
    ///
    /// - Parameter forget: A closure to call when the download has ended. A download ends when its file is closed or
    ///   has been moved to its target. It also ends when its body is released, or when its attempt fails before a file
    ///   was created, for example after an error response.
    func send(
        _ request: HTTPRequest, delivering delivery: BodyDelivery, over base: any Transport,
        whenOver forget: @escaping @Sendable () -> Void
    ) async throws -> HTTPResponse {
        end.observe { _ in forget() }
        file.observeEnd { [end] in end.settle(.success(())) }
        do {
            var response = try await waiting { try await base.send(request, delivering: delivery) }
            guard case .stream(let body) = response.content else {
                end.settle(.success(()))  // the whole body is in memory
                return response
            }
            let held = body.pulled { [self] pull in
                try await waiting(pull)
            } whenReleased: { [end] in
                end.settle(.success(()))
            }
            response.content = .stream(held)
            return response
        } catch {
            end.settle(.success(()))
            throw error
        }
    }

    /// Cancels the download because an equal download replaces it, and waits until the cancelled download has ended.
    func leave() async throws {
        _ = gate.pause()
        let isOver = Settlement<Void>()
        end.observe { isOver.settle($0) }
        try await isOver.value()
    }

    private func waiting<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        do { return try await PauseGate.passing(gate, work) } catch {
            guard !gate.isPaused else { throw SharedTransfer.superseded("a newer equal download replaced this one") }
            throw error
        }
    }
}

/// The transfers in progress that a duplicate may join, each with its key. Copies of this value share the transfers.
struct RunningTransfers: Sendable {
    /// The transfers by the hash of their keys. The keys of duplicates have equal hashes.
    private let transfers = Locked<[Int: Few<SharedTransfer>]>([:])

    enum Place {
        case taken(by: SharedTransfer)
        /// No transfer with an equal key was in progress. The transfer of the new caller is registered and has not
        /// begun.
        case free(SharedTransfer.Caller)
    }

    /// Returns the transfer in progress for a key. If there is none, registers a new transfer.
    ///
    /// - Parameter ignored: The header fields that may differ between equal requests.
    func place(for key: DuplicateKey, ignoring ignored: [HTTPHeader.Name]) -> Place {
        func find(in transfers: inout Few<SharedTransfer>) -> Place {
            if let found = transfers.first(where: { $0.key.isDuplicate(of: key, ignoring: ignored) }) {
                return .taken(by: found)
            }
            let beginner = SharedTransfer.Caller(beginning: key, in: self)
            transfers.append(beginner.transfer)
            return .free(beginner)
        }
        return transfers.withLock { find(in: &$0[key.hash, default: Few()]) }
    }

    /// Replaces a transfer with the transfer of a duplicate request; returns false if the old transfer is no longer in
    /// progress.
    func replace(_ old: SharedTransfer, by new: SharedTransfer) -> Bool {
        transfers.withLock { transfers in
            guard transfers[old.key.hash]?.remove(where: { $0 === old }) != nil else { return false }
            transfers[old.key.hash, default: Few()].append(new)
            return true
        }
    }

    /// The transfers in progress.
    var all: [SharedTransfer] {
        transfers.withLock { transfers in
            var all: [SharedTransfer] = []
            for found in transfers.values { found.forEach { all.append($0) } }
            return all
        }
    }

    /// Removes a transfer.
    func remove(_ transfer: SharedTransfer) {
        transfers.withLock { transfers in
            guard var found = transfers.removeValue(forKey: transfer.key.hash) else { return }
            found.remove { $0 === transfer }
            if !found.isEmpty { transfers[transfer.key.hash] = found }
        }
    }
}
