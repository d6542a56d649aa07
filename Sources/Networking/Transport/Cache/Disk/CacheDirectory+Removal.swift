import Foundation

/// Removing.
extension CacheDirectory {
    /// Removes the responses of a URL.
    func remove(_ key: String) {
        finishRemoval(number(key)) { removeFolder(folder(key)) }
    }

    /// Removes the stored responses that apply to the same requests as the given response.
    func remove(_ response: CachedResponse, at key: String) {
        try? lock.locked { _ in
            let folder = folder(key)
            for name in names(in: folder) {
                guard case .response(let stored) = read("\(folder)/\(name)", key, isUse: false),
                    stored.audience == response.audience
                else { continue }
                unlink("\(folder)/\(name)")
            }
            rmdir(folder)
        }
    }

    /// Removes every response.
    func removeAll() {
        finishRemoval(0) {
            // A writer whose temporary file was removed cannot store its response.
            for name in temporaryFiles() { unlink(name) }
            return folders().reduce(true) { removeFolder($1) && $0 }
        }
    }

    /// Removes files, and records the removal. If one of these steps fails, this process no longer uses the responses
    /// that were stored before.
    private func finishRemoval(_ number: UInt64, _ remove: () -> Bool) {
        let isDone = try? lock.locked { file in
            let isRecorded = CacheRemovals(file: file).append(number)
            return remove() && isRecorded
        }
        guard isDone != true else { return }
        pending.withLock { pending in
            // One entry for all URLs replaces many entries.
            if pending.count > 1_000 { pending = [0: CacheRemovals.now()] }
            pending[number] = CacheRemovals.now()
        }
    }

    /// Returns the time of the last failed attempt to remove a URL's responses; 0 if there is none.
    func removalTime(of number: UInt64) -> UInt64 {
        pending.withLock { $0.isEmpty ? 0 : max($0[number] ?? 0, $0[0] ?? 0) }
    }

    /// Removes the folder of a URL. Returns false if that is not possible.
    private func removeFolder(_ folder: String) -> Bool {
        for name in names(in: folder) { unlink("\(folder)/\(name)") }
        return rmdir(folder) == 0 || errno == ENOENT
    }
}
