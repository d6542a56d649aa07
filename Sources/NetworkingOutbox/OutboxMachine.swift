package import Foundation

/// The decisions of an outbox: which entry is sent next, and what follows from the end of its call.
///
/// It is a value without a clock, a task, a lock or a file. Entries of one lane are sent one after the other, in their
/// order. Lanes are served in turn, so that a long lane does not delay the others.
package struct OutboxMachine: Sendable {
    /// The user whose entries may be sent.
    package enum Owner: Hashable, Sendable {
        /// The token is not known now, or the user has to log in again.
        case unknown
        case nobody
        case user(String)
    }

    /// What an entry waits for.
    package enum Stage: Hashable, Sendable {
        case waiting
        /// The record says that the call has begun.
        case marked
        /// The app has to decide: the entry was refused, is in doubt, or cannot be read.
        case held
        /// The file cannot be read now.
        case unread
        /// The entry has ended.
        case ended
    }

    package struct Entry: Hashable, Sendable {
        package let name: OutboxName
        package var owner: String?
        package var expires: Date?
        package var asks: Bool
        package var stage: Stage

        package init(_ name: OutboxName, owner: String?, expires: Date?, asks: Bool, stage: Stage) {
            (self.name, self.owner, self.expires) = (name, owner, expires)
            (self.asks, self.stage) = (asks, stage)
        }
    }

    package struct Options: Hashable, Sendable {
        /// The number of lanes whose entries are sent at the same time.
        package var limit: Int
        package var dropsAtLogOut: Bool
        package var firstDelay: Duration
        package var longestDelay: Duration

        package init(
            limit: Int = 4, dropsAtLogOut: Bool = false, firstDelay: Duration = .seconds(1),
            longestDelay: Duration = .seconds(300)
        ) {
            (self.limit, self.dropsAtLogOut) = (max(limit, 1), dropsAtLogOut)
            (self.firstDelay, self.longestDelay) = (firstDelay, longestDelay)
        }
    }

    /// The next thing to do.
    package enum Step: Hashable, Sendable {
        case send(OutboxName)
        /// Record that the entry has expired.
        case expire(OutboxName)
        /// Record that the entry is in doubt, because the process that sent it has ended.
        case doubt(OutboxName)
        /// Remove the entry of a user who has logged out.
        case drop(OutboxName)
    }

    /// What the end of a call means for its entry.
    package enum End: Hashable, Sendable {
        case executed
        case refused
        /// No server has executed the write.
        case notNow(after: Duration?, isOffline: Bool)
        case noToken
        /// The response was lost.
        case lost
    }

    package enum Lane: Hashable, Sendable {
        case order(UInt64)
        case single(OutboxName)
    }

    /// The entries of one lane.
    package struct Line: Hashable, Sendable {
        package struct Pause: Hashable, Sendable {
            package var end: Duration
            /// Whether the server has asked for it.
            package var isAsked: Bool
        }

        /// The entries that have not ended, in their order.
        package fileprivate(set) var names: ArraySlice<OutboxName> = []
        package fileprivate(set) var isBusy = false
        package fileprivate(set) var failures = 0
        package fileprivate(set) var pause: Pause?
    }

    package let options: Options
    package private(set) var entries: [OutboxName: Entry] = [:]
    package private(set) var inFlight: Set<OutboxName> = []
    package private(set) var owner = Owner.unknown
    package private(set) var lines: [Lane: Line] = [:]
    /// The lanes that may have an entry to send, in the order in which they are served.
    package private(set) var turns: ArraySlice<Lane> = []
    private var queued: Set<Lane> = []
    /// The time before which nothing is sent, because no server was reached.
    package private(set) var offlineUntil: Duration?
    package private(set) var offlineFailures = 0
    /// The entries of users who have logged out, which are removed.
    private var drops: [OutboxName] = []
    private var mayHaveDrops = false

    package init(_ options: Options = Options()) {
        self.options = options
    }

    // MARK: The entries

    /// Adds an entry, or replaces what is known about it.
    package mutating func set(_ entry: Entry) {
        mayHaveDrops = true
        let lane = lane(of: entry.name)
        let isNew = entries.updateValue(entry, forKey: entry.name).map { $0.stage == .ended } ?? true
        if isNew, entry.stage != .ended {
            lines[lane, default: Line()].insert(entry.name)
        } else if entry.stage == .ended {
            lines[lane]?.remove(entry.name)
        }
        queue(lane)
    }

    /// Sends an entry without a pause, because the app has decided about it.
    package mutating func resume(_ name: OutboxName) {
        lines[lane(of: name)]?.pause = nil
        queue(lane(of: name))
    }

    /// Forgets an entry whose file was removed.
    package mutating func remove(_ name: OutboxName) {
        guard !inFlight.contains(name) else { return }
        entries[name] = nil
        let lane = lane(of: name)
        lines[lane]?.remove(name)
        queue(lane)
    }

    /// Sets the user whose entries may be sent.
    package mutating func set(_ owner: Owner) {
        guard owner != self.owner else { return }
        self.owner = owner
        mayHaveDrops = true
        queueAll()
    }

    /// Sends entries at once that wait because of an earlier failure, unless the server has asked for the wait.
    package mutating func wake() {
        (offlineUntil, offlineFailures) = (nil, 0)
        for (lane, line) in lines where line.pause?.isAsked == false { lines[lane]?.pause = nil }
        queueAll()
    }

    // MARK: Sending

    /// Returns the next thing to do, and counts it as done; nil if there is nothing to do now.
    ///
    /// - Parameters:
    ///   - now: The time on a clock that never jumps.
    ///   - date: The wall-clock time, for the expiry of entries.
    package mutating func next(at now: Duration, on date: Date) -> Step? {
        let step = peek(at: now, on: date)
        switch step {
        case .send(let name):
            lines[lane(of: name)]?.isBusy = true
            inFlight.insert(name)
        case .expire(let name): end(name)
        case .doubt(let name): entries[name]?.stage = .held
        case .drop(let name):
            drops.removeLast()
            remove(name)
        case nil: break
        }
        return step
    }

    /// Returns the next thing to do; nil if there is nothing to do now.
    package mutating func peek(at now: Duration, on date: Date) -> Step? {
        findDrops()
        if let name = drops.last { return .drop(name) }
        if let end = offlineUntil, end <= now { offlineUntil = nil }
        while let lane = turns.first {
            if let end = lines[lane]?.pause?.end, end <= now { lines[lane]?.pause = nil }
            if let line = lines[lane], !line.isBusy, let entry = line.names.first.flatMap({ entries[$0] }),
                let step = step(for: entry, in: line, on: date)
            {
                if case .send = step, inFlight.count >= options.limit { return nil }
                return step
            }
            turns.removeFirst()
            queued.remove(lane)
        }
        return nil
    }

    /// Returns the next step for the first entry of a lane; nil if the entry waits for something.
    private func step(for entry: Entry, in line: Line, on date: Date) -> Step? {
        switch entry.stage {
        case .marked: return .doubt(entry.name)
        case .waiting:
            if let expires = entry.expires, date >= expires { return .expire(entry.name) }
            return isOwned(entry) && offlineUntil == nil && line.pause == nil ? .send(entry.name) : nil
        case .held, .unread, .ended: return nil
        }
    }

    private mutating func findDrops() {
        guard mayHaveDrops else { return }
        mayHaveDrops = false
        guard options.dropsAtLogOut, owner != .unknown else {
            drops = []
            return
        }
        drops = entries.values.filter { isDropped($0) && !inFlight.contains($0.name) }.map(\.name).sorted(by: >)
    }

    private func isDropped(_ entry: Entry) -> Bool {
        guard options.dropsAtLogOut, owner != .unknown, let user = entry.owner else { return false }
        return owner != .user(user)
    }

    /// Whether an entry may be sent with the current token.
    package func isOwned(_ entry: Entry) -> Bool { entry.owner.map { owner == .user($0) } ?? true }

    /// Ends the call of an entry.
    ///
    /// - Parameter fraction: A random number from 0 to 1.
    /// - Returns: What the entry waits for; nil if it does not exist any more.
    @discardableResult
    package mutating func end(_ name: OutboxName, as end: End, at now: Duration, fraction: Double) -> Stage? {
        inFlight.remove(name)
        let lane = lane(of: name)
        lines[lane]?.isBusy = false
        defer { queue(lane) }
        guard let entry = entries[name] else { return nil }
        mayHaveDrops = true
        if case .notNow(_, isOffline: true) = end {} else { (offlineUntil, offlineFailures) = (nil, 0) }
        switch end {
        case .executed:
            lines[lane]?.failures = 0
            self.end(name)
        case .refused:
            lines[lane]?.failures = 0
            entries[name]?.stage = .held
        case .notNow(_, isOffline: true):
            entries[name]?.stage = .waiting
            offlineUntil = now + delay(after: offlineFailures, fraction)
            offlineFailures += 1
        case .notNow(let asked, isOffline: false):
            entries[name]?.stage = .waiting
            pause(lane, at: now, asked: asked, fraction)
        case .noToken:
            entries[name]?.stage = .waiting
            owner = .unknown
        case .lost:
            entries[name]?.stage = entry.asks ? .held : .waiting
            pause(lane, at: now, asked: nil, fraction)
        }
        return entries[name]?.stage
    }

    private mutating func end(_ name: OutboxName) {
        entries[name]?.stage = .ended
        lines[lane(of: name)]?.remove(name)
    }

    private mutating func pause(_ lane: Lane, at now: Duration, asked: Duration?, _ fraction: Double) {
        guard let line = lines[lane] else { return }
        let own = delay(after: line.failures, fraction)
        let longest = Duration.seconds(3600)  // a server cannot stop a lane for ever
        lines[lane]?.pause = .init(end: now + max(own, min(asked ?? .zero, longest)), isAsked: asked != nil)
        lines[lane]?.failures += 1
    }

    /// The delay before a repetition: it doubles with each failure, and is between a half and three halves of that.
    private func delay(after failures: Int, _ fraction: Double) -> Duration {
        min(options.firstDelay * (1 << min(failures, 20)), options.longestDelay) * (0.5 + fraction)
    }

    // MARK: Waiting

    /// The time until something may change without an event; nil if only an event can change anything.
    package func wait(at now: Duration, on date: Date) -> Duration? {
        var waits = offlineUntil.map { [$0 - now] } ?? []
        for line in lines.values where !line.isBusy {
            if let end = line.pause?.end { waits.append(end - now) }
            guard let entry = line.names.first.flatMap({ entries[$0] }), entry.stage == .waiting else { continue }
            if let expires = entry.expires { waits.append(.seconds(max(expires.timeIntervalSince(date), 0))) }
        }
        return waits.min().map { max($0, .zero) }
    }

    /// Looks at all lanes again, because time has passed.
    package mutating func queueAll() {
        for (lane, _) in lines.sorted(by: { ($0.value.names.first?.number ?? 0) < ($1.value.names.first?.number ?? 0) })
        {
            queue(lane)
        }
    }

    private mutating func queue(_ lane: Lane) {
        if lines[lane]?.names.isEmpty == true, lines[lane]?.isBusy == false { lines[lane] = nil }
        guard lines[lane] != nil, queued.insert(lane).inserted else { return }
        turns.append(lane)
    }

    private func lane(of name: OutboxName) -> Lane { name.lane.map { .order($0) } ?? .single(name) }

    /// The entry that the app has to decide about before an entry can be sent; nil if there is none.
    package func obstacle(of name: OutboxName) -> OutboxName? {
        guard let first = lines[lane(of: name)]?.names.first, first != name, let entry = entries[first] else {
            return nil
        }
        return entry.stage == .held ? first : nil
    }
}

extension OutboxMachine.Line {
    fileprivate mutating func insert(_ name: OutboxName) {
        guard let last = names.last, last > name else { return names.append(name) }
        let position = names.firstIndex { $0 > name } ?? names.endIndex
        names.insert(name, at: position)
    }

    fileprivate mutating func remove(_ name: OutboxName) {
        if names.first == name {
            names = names.dropFirst()
            return
        }
        names.removeAll { $0 == name }
    }
}
