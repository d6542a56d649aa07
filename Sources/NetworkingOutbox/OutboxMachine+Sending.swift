package import Foundation

// What is sent next, and what follows from the end of a call.
extension OutboxMachine {
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
        if let end = offlineUntil, end <= now {
            offlineUntil = nil
            queueAll()
        }
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
        guard options.dropsAtLogOut, owner != .unknown, entry.stage != .ended, let user = entry.owner else {
            return false
        }
        return owner != .user(user)
    }

    /// Whether an entry may be sent with the current token.
    package func isOwned(_ entry: Entry) -> Bool {
        owner.maySend(writeOf: entry.owner, anonymously: options.sendsAnonymously)
    }

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
        if case .notNow(_, isOffline: true) = end {} else { reachServer() }
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
            pause(lane, at: now, asked: nil, fraction)
        case .lost:
            entries[name]?.stage = entry.asks ? .held : .waiting
            pause(lane, at: now, asked: nil, fraction)
        }
        return entries[name]?.stage
    }

    private mutating func reachServer() {
        let wasOffline = offlineUntil != nil
        (offlineUntil, offlineFailures) = (nil, 0)
        if wasOffline { queueAll() }
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

    /// The delay before a repetition: a time that doubles with each failure, multiplied by a random factor from 0.5 to
    /// 1.5.
    private func delay(after failures: Int, _ fraction: Double) -> Duration {
        min(options.firstDelay * (1 << min(failures, 20)), options.longestDelay) * (0.5 + fraction)
    }

    // MARK: Waiting

    /// The time until the machine may have a next step even if no event occurs; nil if only an event can lead to a next
    /// step.
    package func wait(at now: Duration, on date: Date) -> Duration? {
        var waits = offlineUntil.map { [$0 - now] } ?? []
        for line in lines.values where !line.isBusy {
            if let end = line.pause?.end { waits.append(end - now) }
            guard let entry = line.names.first.flatMap({ entries[$0] }), entry.stage == .waiting else { continue }
            if let expires = entry.expires { waits.append(.seconds(min(max(expires.timeIntervalSince(date), 0), 1e9))) }
        }
        return waits.min().map { max($0, .zero) }
    }
}
