/// The transfers under way that a duplicate may join, each known by its key. Copies share them.
struct RunningTransfers: Sendable {
    private let transfers = Locked<[DuplicateKey: SharedTransfer]>([:])

    /// The transfer under way for a key; where there is none, a new one that has not begun, with its first caller.
    func find(_ key: DuplicateKey) -> (transfer: SharedTransfer, beginner: SharedTransfer.Caller?) {
        transfers.withLock { transfers in
            // It looks the key up once: most requests have no duplicate.
            let (new, beginner) = SharedTransfer.make(key, in: self)
            guard let found = transfers.updateValue(new, forKey: key) else { return (new, beginner) }
            transfers[key] = found
            return (found, nil)
        }
    }

    /// Puts a transfer in the place of another one; false where that is not there any more.
    func replace(_ old: SharedTransfer, by new: SharedTransfer) -> Bool {
        transfers.withLock { transfers in
            guard transfers[old.key] === old else { return false }
            transfers[new.key] = new
            return true
        }
    }

    /// Forgets a transfer, unless another one has its place.
    func remove(_ transfer: SharedTransfer) {
        transfers.withLock { transfers in
            guard let removed = transfers.removeValue(forKey: transfer.key), removed !== transfer else { return }
            transfers[removed.key] = removed  // one that was found there instead of the one looked for
        }
    }
}
