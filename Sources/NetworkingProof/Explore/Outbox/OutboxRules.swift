/// The rules of an outbox, with their own account of what the app, the server and the processes have done. The name of
/// a rule is the name of its function.
struct OutboxRules: Sendable {
    enum User: UInt8, Sendable { case ann, ben }

    /// What is known about a write, whatever the outbox believes.
    struct Write: Hashable, Sendable {
        let user: User?
        let lane: Int?
        let asks: Bool
        let canExpire: Bool
        /// The number of times that its current key has arrived.
        var arrivals = 0
        /// Whether the key may arrive once more: its response was lost, its process was killed, the lease was lost, or
        /// the server has said "not now".
        var mayArrive = true
        /// Whether the last arrival left doubt, so that only the app may have it sent again.
        var isInDoubt = false
        var isRefused = false
        var isOver = false
    }

    private(set) var writes: [Write] = []
    var faults: [String] = []

    private mutating func expect(_ isTrue: Bool, _ text: String, rule: String = #function) {
        if !isTrue { faults.append("\(rule.prefix { $0 != "(" }): \(text)") }
    }

    mutating func store(_ write: Write) { writes.append(write) }

    /// A request reaches the server, or its connection is lost on the way.
    mutating func arrive(_ number: Int, tokenOf user: User?, begunAfterExpiry: Bool) {
        nobodyWritesForAnotherUser(number, tokenOf: user)
        theAppDecidesAboutDoubt(number)
        aKeyArrivesAgainOnlyForAReason(number)
        anOrderIsKept(number)
        anExpiredWriteIsNotSent(number, begunAfterExpiry)
        writes[number].arrivals += 1
        writes[number].mayArrive = false
    }

    /// The response was lost, the process was killed, or the lease was lost while a request was on its way.
    mutating func lose(_ number: Int) {
        (writes[number].mayArrive, writes[number].isRefused) = (true, false)
        if writes[number].asks { writes[number].isInDoubt = true }
    }

    /// A request arrives that was on its way when its process lost the lease, or after it. Nobody can call it back.
    mutating func arriveLate(_ number: Int, tokenOf user: User?) { nobodyWritesForAnotherUser(number, tokenOf: user) }

    /// A call whose process had lost the lease was not executed after all.
    mutating func settleDoubt(_ number: Int) { (writes[number].isInDoubt, writes[number].mayArrive) = (false, true) }

    /// The server has said "not now", or the answer was not recorded before the lease was lost.
    mutating func postpone(_ number: Int) { (writes[number].mayArrive, writes[number].isRefused) = (true, false) }

    mutating func refuse(_ number: Int) { writes[number].isRefused = true }

    /// The app has an entry sent again.
    mutating func decide(_ number: Int) {
        if writes[number].isRefused { writes[number].arrivals = 0 }
        (writes[number].isRefused, writes[number].isInDoubt, writes[number].mayArrive) = (false, false, true)
    }

    mutating func end(_ number: Int) { writes[number].isOver = true }

    /// An entry is removed because its user has logged out.
    mutating func drop(_ number: Int, whileLoggedIn user: User?, isChosen: Bool) {
        onlyALogOutRemovesAnEntry(number, user, isChosen)
        end(number)
    }

    private mutating func nobodyWritesForAnotherUser(_ number: Int, tokenOf user: User?) {
        guard let owner = writes[number].user else { return }
        expect(user == owner, "write \(number) of \(owner) is sent as \(user.map { "\($0)" } ?? "nobody")")
    }

    private mutating func aKeyArrivesAgainOnlyForAReason(_ number: Int) {
        expect(writes[number].mayArrive, "write \(number) arrives again")
    }

    private mutating func theAppDecidesAboutDoubt(_ number: Int) {
        let waits = writes[number].isInDoubt || writes[number].isRefused
        expect(!waits, "write \(number) arrives again, and the app has not decided")
    }

    private mutating func anOrderIsKept(_ number: Int) {
        guard let lane = writes[number].lane, writes[number].arrivals == 0 else { return }
        for (other, write) in writes.enumerated().prefix(number)
        where write.lane == lane && write.user == writes[number].user && !write.isOver {
            expect(
                write.arrivals > 0 && !write.isRefused && !write.isInDoubt, "write \(number) arrives before \(other)")
        }
    }

    private mutating func anExpiredWriteIsNotSent(_ number: Int, _ begunAfterExpiry: Bool) {
        expect(!begunAfterExpiry, "write \(number) has expired before its call began")
    }

    private mutating func onlyALogOutRemovesAnEntry(_ number: Int, _ user: User?, _ isChosen: Bool) {
        let isLogOut = writes[number].user != nil && user != writes[number].user
        expect(isChosen && isLogOut, "write \(number) of \(writes[number].user.map { "\($0)" } ?? "nobody") is removed")
    }

    /// - Parameter isSent: Whether an outbox that has looked at the folder, and whose waits are over, sends something.
    mutating func anOpenWriteIsSent(_ number: Int, _ isSent: Bool) {
        expect(isSent, "write \(number) could be sent, and is not")
    }
}
