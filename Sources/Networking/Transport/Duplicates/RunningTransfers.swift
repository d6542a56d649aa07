/// The transfers under way that a duplicate may join, each known by its key. Copies share them.
struct RunningTransfers: Sendable {
    /// By the hash of their keys: equal keys have equal ones.
    private let transfers = Locked<[Int: Few<SharedTransfer>]>([:])

    enum Place {
        case taken(by: SharedTransfer)
        /// It is the caller's, whose transfer has not begun.
        case free(SharedTransfer.Caller)
    }

    /// Finds the transfer under way for a key; where there is none, puts a new one there.
    ///
    /// - Parameter ignored: The header fields in which equal requests may differ.
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

    /// Puts a transfer in the place of another one of an equal key; false if that is not there any more.
    func replace(_ old: SharedTransfer, by new: SharedTransfer) -> Bool {
        transfers.withLock { transfers in
            guard transfers[old.key.hash]?.remove(where: { $0 === old }) != nil else { return false }
            transfers[old.key.hash, default: Few()].append(new)
            return true
        }
    }

    /// Forgets a transfer.
    func remove(_ transfer: SharedTransfer) {
        transfers.withLock { transfers in
            guard var found = transfers.removeValue(forKey: transfer.key.hash) else { return }
            found.remove { $0 === transfer }
            if !found.isEmpty { transfers[transfer.key.hash] = found }
        }
    }
}
