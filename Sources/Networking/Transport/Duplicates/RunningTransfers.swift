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

    /// Removes a transfer.
    func remove(_ transfer: SharedTransfer) {
        transfers.withLock { transfers in
            guard var found = transfers.removeValue(forKey: transfer.key.hash) else { return }
            found.remove { $0 === transfer }
            if !found.isEmpty { transfers[transfer.key.hash] = found }
        }
    }
}
