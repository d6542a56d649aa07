/// The transfers under way that a duplicate may join, each known by its key. Copies share them.
struct RunningTransfers: Sendable {
    private let transfers = Locked<[DuplicateKey: SharedTransfer]>([:])

    /// The transfer under way for a key; where there is none, a new one that has not begun, with its first caller.
    func find(_ key: DuplicateKey) -> (transfer: SharedTransfer, beginner: SharedTransfer.Caller?) {
        transfers.withLock { transfers in
            if let found = transfers[key] { return (found, nil) }
            let (transfer, beginner) = SharedTransfer.make(key, in: self)
            transfers.updateValue(transfer, forKey: key)
            return (transfer, beginner)
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
            guard let index = transfers.index(forKey: transfer.key), transfers[index].value === transfer else { return }
            transfers.remove(at: index)
        }
    }
}
