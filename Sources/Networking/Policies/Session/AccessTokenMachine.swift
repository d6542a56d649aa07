import Foundation

/// The rules of the token as a pure value: an event in, effects out. No time, no task, no lock.
///
/// Generations order what happens to the token: each token set, brought or not brought by a refresh begins a new one. A request
/// carries the generation in which it was dressed, so that an answer tells which token it is about, and whether a refresh has
/// failed since.
struct AccessTokenMachine: Sendable {
    typealias Waiter = UInt64

    /// What is known about the token a request carried when the server refused it.
    enum Judgement: Equatable, Sendable {
        /// Rule 2: there is a newer token; send again with that.
        case repeatWithCurrent
        /// Rule 3: it was the current one; wait for the refresh, then send again.
        case waitForRefresh
        /// Nothing can be done: logged out, or a refresh has failed since it was sent.
        case giveUp
    }

    enum Effect: Sendable {
        case startRefresh(id: Int, replacing: AccessToken?)
        case cancelRefresh(id: Int)
        case release(Waiter)
        case fail(Waiter, any Error)
        case announce(AccessTokenEvent)
    }

    private struct Refresh: Sendable {
        let id: Int
        /// A token was set or removed meanwhile: the answer will not count.
        var isSuperseded = false
        /// The token set meanwhile was refused, too: another refresh is to follow.
        var isWantedAgain = false
        var waiters: [Waiter] = []
    }

    private(set) var token: AccessToken?
    private(set) var generation = 0
    private var tokenGeneration = 0
    private var receivedAt: Date
    private var mayRefresh = true
    private var isUntried = false
    private var isOverTold = false
    private var refresh: Refresh?
    private var refreshCount = 0
    /// The last refresh that failed, and the generation whose refusal it was for.
    private var failure: (generation: Int, error: any Error)?

    init(token: AccessToken?, at now: Date) {
        self.token = token
        self.receivedAt = now
    }

    var isRefreshing: Bool { refresh.map { !$0.isSuperseded || $0.isWantedAgain } ?? false }

    // MARK: Before sending

    /// Rules 4 and 5: whether an authorized request may go now.
    func mayPass(at now: Date) -> Bool {
        !isRefreshing && !needsRefresh(at: now)
    }

    /// A request waits until it may go; what ends the wait is an effect.
    mutating func wait(_ waiter: Waiter, toPassAt now: Date) -> [Effect] {
        guard !mayPass(at: now) else { return [.release(waiter)] }
        let effects = requireRefresh()
        refresh?.waiters.append(waiter)
        return effects
    }

    /// Rule 5: a fresh token has been tried.
    mutating func noteAnswer(toGeneration carried: Int) {
        if carried >= tokenGeneration { isUntried = false }
    }

    // MARK: After a refusal

    /// Rules 2 and 3: what a refusal of a request of that generation means. Begins the refresh that it calls for.
    mutating func judge(refusalOfGeneration carried: Int) -> (Judgement, [Effect]) {
        if carried < tokenGeneration { return (token == nil ? .giveUp : .repeatWithCurrent, []) }
        guard carried == generation, mayRefresh else { return (.giveUp, []) }
        return (.waitForRefresh, requireRefresh())
    }

    /// A refused request waits for the refresh that its refusal called for.
    mutating func wait(_ waiter: Waiter, forRefreshOfGeneration carried: Int) -> [Effect] {
        if carried < tokenGeneration, token != nil { return [.release(waiter)] }
        guard carried == generation, refresh != nil else {
            return [.fail(waiter, refreshError(ofGeneration: carried) ?? TokenUnavailable())]
        }
        refresh?.waiters.append(waiter)
        return []
    }

    /// Why the refresh failed that the refusal of that generation called for; nil where it did not.
    func refreshError(ofGeneration carried: Int) -> (any Error)? {
        guard let failure, carried >= tokenGeneration, carried <= failure.generation else { return nil }
        return failure.error
    }

    /// Whether the answer of that refresh is still awaited.
    func isWanted(refresh id: Int) -> Bool {
        refresh?.id == id && refresh?.isSuperseded == false
    }

    /// A waiter has left; it is not answered.
    mutating func leave(_ waiter: Waiter) {
        refresh?.waiters.removeAll { $0 == waiter }
    }

    // MARK: What becomes of the token

    /// Rule 8: setting or removing a token by hand wins over a refresh under way.
    mutating func set(_ token: AccessToken?, at now: Date) -> [Effect] {
        store(token, at: now)
        mayRefresh = token != nil
        isUntried = false
        guard var running = refresh else { return [] }
        let waiters = running.waiters
        running.waiters = []
        running.isWantedAgain = false
        defer { refresh = running }
        let released = waiters.map { token == nil ? Effect.fail($0, TokenUnavailable()) : .release($0) }
        guard !running.isSuperseded else { return released }
        running.isSuperseded = true
        return [.cancelRefresh(id: running.id)] + released
    }

    /// Rule 7: the refresh brought a token. One that nobody waits for any more changes nothing.
    mutating func refreshSucceeded(_ id: Int, with token: AccessToken, at now: Date) -> [Effect] {
        guard let ended = refresh, ended.id == id else { return [] }
        refresh = nil
        guard !ended.isSuperseded else { return follow(ended) }
        store(token, at: now)
        isUntried = true
        return [.announce(.refreshed(token))] + ended.waiters.map { .release($0) }
    }

    /// Rule 7: the refresh brought none.
    mutating func refreshFailed(_ id: Int, with error: any Error, isRejection: Bool) -> [Effect] {
        guard let ended = refresh, ended.id == id else { return [] }
        refresh = nil
        guard !ended.isSuperseded else { return follow(ended) }
        failure = (generation, error)
        generation += 1
        let waiters = ended.waiters.map { Effect.fail($0, error) }
        guard isRejection else { return [.announce(.unreachable(error))] + waiters }
        defer { isOverTold = true }
        return (isOverTold ? [] : [.announce(.sessionOver(error))]) + waiters
    }

    // MARK: Within

    private mutating func store(_ token: AccessToken?, at now: Date) {
        self.token = token
        generation += 1
        tokenGeneration = generation
        receivedAt = now
        isOverTold = false
        failure = nil
    }

    /// Rule 1: one refresh at a time; one that follows a superseded one waits for its end.
    private mutating func requireRefresh() -> [Effect] {
        guard refresh == nil else {
            if refresh?.isSuperseded == true { refresh?.isWantedAgain = true }
            return []
        }
        refreshCount += 1
        refresh = Refresh(id: refreshCount)
        return [.startRefresh(id: refreshCount, replacing: token)]
    }

    private mutating func follow(_ ended: Refresh) -> [Effect] {
        guard ended.isWantedAgain else { return [] }
        let effects = requireRefresh()
        refresh?.waiters = ended.waiters
        return effects
    }

    /// Rule 5: expired, or about to: within 30 seconds, but never more than a tenth of the token's life, of its end.
    private func needsRefresh(at now: Date) -> Bool {
        guard mayRefresh, !isUntried, let token, let expiresAt = token.expiresAt else { return false }
        let life = max(expiresAt.timeIntervalSince(receivedAt), 0)
        return now >= expiresAt.addingTimeInterval(-min(30, life / 10))
    }
}

/// There is no token to send again with: the user logged out, or a refresh failed in between.
struct TokenUnavailable: Error {}
