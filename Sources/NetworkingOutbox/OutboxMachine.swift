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

        /// Whether a write may be sent now.
        ///
        /// - Parameters:
        ///   - writer: The user who has written it; nil if nobody was logged in.
        ///   - anonymously: Whether a write without a user is sent without a token. Such a write may be sent regardless
        ///     of the current user.
        package func maySend(writeOf writer: String?, anonymously: Bool) -> Bool {
            writer.map { self == .user($0) } ?? (anonymously || self == .nobody)
        }
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

        var isUnread: Bool { stage == .unread }
    }

    package struct Options: Hashable, Sendable {
        /// The maximum number of lanes whose entries are sent at the same time.
        package var limit: Int
        package var dropsAtLogOut: Bool
        /// Whether entries without a user are sent without a token, so that they can be sent while a user is logged in.
        package var sendsAnonymously: Bool
        package var firstDelay: Duration
        package var longestDelay: Duration

        package init(
            limit: Int = 4, dropsAtLogOut: Bool = false, sendsAnonymously: Bool = true,
            firstDelay: Duration = .seconds(1),
            longestDelay: Duration = .seconds(300)
        ) {
            (self.limit, self.dropsAtLogOut) = (max(limit, 1), dropsAtLogOut)
            self.sendsAnonymously = sendsAnonymously
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
            /// Whether the server has requested the pause.
            package var isAsked: Bool
        }

        /// The entries that have not ended, in their order.
        package internal(set) var names: ArraySlice<OutboxName> = []
        package internal(set) var isBusy = false
        package internal(set) var failures = 0
        package internal(set) var pause: Pause?
    }

    package let options: Options
    package internal(set) var entries: [OutboxName: Entry] = [:]
    package internal(set) var inFlight: Set<OutboxName> = []
    package internal(set) var owner = Owner.unknown
    package internal(set) var lines: [Lane: Line] = [:]
    /// The lanes that may have an entry to send, in the order in which they are served.
    package internal(set) var turns: ArraySlice<Lane> = []
    var queued: Set<Lane> = []
    /// The time before which nothing is sent, because no server was reached.
    package internal(set) var offlineUntil: Duration?
    package internal(set) var offlineFailures = 0
    /// The entries of users who have logged out, which are removed.
    var drops: [OutboxName] = []
    var mayHaveDrops = false

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

    /// Ends the pause before an entry, because the app has decided about the entry. A pause that the server has
    /// requested does not end.
    package mutating func resume(_ name: OutboxName) {
        if lines[lane(of: name)]?.pause?.isAsked == false { lines[lane(of: name)]?.pause = nil }
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

    /// Ends the waits of entries after earlier failures, except waits that the server has requested.
    package mutating func wake() {
        (offlineUntil, offlineFailures) = (nil, 0)
        for (lane, line) in lines where line.pause?.isAsked == false { lines[lane]?.pause = nil }
        queueAll()
    }

    // MARK: Lanes

    /// Looks at all lanes again, because time has passed.
    package mutating func queueAll() {
        for (lane, _) in lines.sorted(by: { ($0.value.names.first?.number ?? 0) < ($1.value.names.first?.number ?? 0) })
        {
            queue(lane)
        }
    }

    mutating func queue(_ lane: Lane) {
        if lines[lane]?.names.isEmpty == true, lines[lane]?.isBusy == false { lines[lane] = nil }
        guard lines[lane] != nil, queued.insert(lane).inserted else { return }
        turns.append(lane)
    }

    func lane(of name: OutboxName) -> Lane { name.lane.map { .order($0) } ?? .single(name) }

    /// The entry about which the app has to decide before the given entry can be sent; nil if there is none.
    package func obstacle(of name: OutboxName) -> OutboxName? {
        guard let first = lines[lane(of: name)]?.names.first, first != name, let entry = entries[first] else {
            return nil
        }
        return entry.stage == .held ? first : nil
    }

    /// The entries behind an entry in its lane.
    package func followers(of name: OutboxName) -> ArraySlice<OutboxName> {
        guard let names = lines[lane(of: name)]?.names, names.first == name else { return [] }
        return names.dropFirst()
    }
}

extension OutboxMachine.Line {
    fileprivate mutating func insert(_ name: OutboxName) {
        guard let last = names.last, last > name else { return names.append(name) }
        let position = names.firstIndex { $0 > name } ?? names.endIndex
        names.insert(name, at: position)
    }

    mutating func remove(_ name: OutboxName) {
        if names.first == name {
            names = names.dropFirst()
            return
        }
        names.removeAll { $0 == name }
    }
}
