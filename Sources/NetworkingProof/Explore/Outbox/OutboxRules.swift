/// The rules of an outbox. They record what the app, the server and the processes have done, independently of the
/// outbox. The name of a rule is the name of its function.
struct OutboxRules: Sendable {
    enum User: UInt8, Sendable { case ann, ben }

    /// The facts about a write, even if the outbox does not know them.
    struct Write: Hashable, Sendable {
        let user: User?
        let lane: Int?
        let asks: Bool
        let canExpire: Bool
        /// The number of requests with the write's current key that have reached the server.
        var arrivals = 0
        /// Whether a request with the key may arrive (again): the response was lost, the process was killed, the lease
        /// was lost, or the server responded with "not now".
        var mayArrive = true
        /// Whether it is unknown if the last request was executed, so that only the app may decide to send the write
        /// again.
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

    /// A request reaches the server.
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

    /// A request of a process that has lost the lease arrives. Nobody can prevent that.
    mutating func arriveLate(_ number: Int, tokenOf user: User?) { nobodyWritesForAnotherUser(number, tokenOf: user) }

    /// It becomes known that a call whose process had lost the lease was not executed.
    mutating func settleDoubt(_ number: Int) { (writes[number].isInDoubt, writes[number].mayArrive) = (false, true) }

    /// The server responds with "not now", or the lease is lost before the response has been recorded.
    mutating func postpone(_ number: Int) { (writes[number].mayArrive, writes[number].isRefused) = (true, false) }

    mutating func refuse(_ number: Int) { writes[number].isRefused = true }

    /// The app requests that an entry be sent again.
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

    /// - Parameter isSent: Whether an outbox that has read the folder, and whose waits are over, finds something to do.
    mutating func anOpenWriteIsSent(_ number: Int, _ isSent: Bool) {
        expect(isSent, "write \(number) could be sent, and is not")
    }
}
