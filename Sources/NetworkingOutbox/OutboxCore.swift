import Foundation
import Networking

/// The part of an outbox that does the work: it keeps the machine and the folder consistent, and makes the calls.
///
/// Files are read and written on a separate dispatch queue, so that no thread that runs tasks waits for a disk.
final class OutboxCore: @unchecked Sendable {  // because every variable is used on `queue` only
    let client: NetworkClient
    let kinds: KindTable
    let folder: OutboxFolder
    let asks: Bool
    let copiesFiles: Bool
    let ownerOfToken: (@Sendable (AccessToken?) -> String?)?
    private let reachability: ReachabilityService?
    let changes: Broadcaster<Outbox.Entry>
    private let queue = DispatchQueue(label: "networking.outbox")
    private let leading = AsyncLock()
    /// The last user whom ``ownerOfToken`` has named, and the number of the session.
    private let named = Locked<(session: Int?, owner: String)?>(nil)

    // MARK: On the queue

    var machine: OutboxMachine
    /// The state of the file of each entry when it was read last.
    var marks: [OutboxName: OutboxFolder.Mark] = [:]
    /// Why an entry cannot be read.
    var faults: [OutboxName: String] = [:]
    /// What could not be recorded yet, because the disk is full or fails. It takes precedence over the files.
    var unrecorded: [OutboxName: OutboxNote] = [:]
    /// Why the last attempt of an entry has failed.
    var failures: [OutboxName: String] = [:]
    /// The calls in progress.
    var calls: [OutboxName: Call] = [:]
    /// The last owner that was known.
    var lastOwner = OutboxMachine.Owner.unknown
    /// Whether this process holds the lease. If so, it may change entries that are not being sent.
    var isLeader = false
    var isClosed = false
    private var signal: Settlement<Void>?
    private var isSignalled = false
    private var token: ObservationToken?
    private var waking: ObservationToken?
    /// The number of times that the loop has looked for work.
    var passes = 0
    var flushes: [(pass: Int, end: Settlement<Void>)] = []
    /// The waits for the end of an entry's call.
    var ends: [OutboxName: [Settlement<Void>]] = [:]

    init(
        client: NetworkClient, kinds: KindTable, folder: OutboxFolder, owner: (@Sendable (AccessToken?) -> String?)?,
        asks: Bool, copiesFiles: Bool, reachability: ReachabilityService?, _ options: OutboxMachine.Options
    ) {
        (self.client, self.kinds, self.folder, ownerOfToken) = (client, kinds, folder, owner)
        (self.asks, self.copiesFiles, self.reachability) = (asks, copiesFiles, reachability)
        machine = OutboxMachine(options)
        let me = WeakCore()
        changes = Broadcaster { deliver in me.core?.replay(deliver) }
        me.core = self
    }

    var clock: NetworkClock { client.configuration.clock }
    var random: RandomSource { client.configuration.random }

    func start() {
        let observation = client.tokens?.observe(on: nil) { [weak self] _ in self?.wakeUp() }
        queue.async { self.token = observation }
        Task.detached { await self.run() }
    }

    /// Lets the calls in progress end, and begins no others.
    func close() {
        queue.async {
            self.isClosed = true
            (self.token, self.waking) = (nil, nil)
        }
        wakeUp()
    }

    /// Runs a closure on the queue.
    func on<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }

    /// Runs a closure on the queue.
    func on<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: work()) } }
    }

    /// Runs an operation. Meanwhile, no other process, and no other task of this process, sends or changes entries.
    func lead<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await leading.withLock { try await folder.lease.hold(ExclusiveOperation(operation)) }
    }

    /// Runs a closure on a thread for slow file operations.
    func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { continuation.resume(with: Result { try work() }) }
        }
    }

    /// Makes the loop look for work.
    func wakeUp() {
        queue.async {
            self.isSignalled = true
            self.signal?.settle(.success(()))
            self.signal = nil
        }
    }

    /// Waits until ``wakeUp()`` is called, or a time has passed.
    ///
    /// - Parameter limit: The longest time; nil for no limit.
    func wait(atMost limit: Duration?) async {
        let signal = await on {
            let signal = Settlement<Void>()
            if self.isSignalled { signal.settle(.success(())) } else { self.signal = signal }
            self.isSignalled = false
            return signal
        }
        let isLate = Settlement<Void>()
        try? await signal.value(within: limit, on: clock) { _ in
            isLate.settle(.success(()))
            return .success(())
        }
        await on {
            self.isSignalled = false
            if isLate.outcome != nil { self.machine.queueAll() }
        }
    }

    // MARK: The owner

    /// Returns the owner of the writes of a session; nil if nobody is logged in, or the user has no name.
    func owner(in session: WriteSession) -> String? {
        if let ownerOfToken {
            let owner = ownerOfToken(session.token)
            return named.withLock { named in
                if let owner { named = (session.number, owner) }
                // After a refresh, the token may lack the values from which the app takes the name. If the store keeps
                // no session ids, the token may belong to another user.
                let isLogIn = session.token != nil && (session.user != nil || !session.isStored)
                let isSame = isLogIn && named?.session == session.number
                return owner ?? (isSame ? named?.owner : nil)
            }
        }
        guard session.hasUsers else { return session.token != nil || session.mayFetch ? "client" : nil }
        return session.user?.uuidString
    }

    /// Asks who is logged in, and passes the answer to the machine.
    ///
    /// - Returns: Whether the answer is known.
    @discardableResult
    func updateOwner() async -> Bool {
        let session = try? await client.writeSession(fetching: false)
        await on {
            let now = self.client.currentWriteSession
            guard session != nil, !now.isOver else { return self.set(.unknown) }
            if let owner = self.owner(in: now) { return self.set(.user(owner)) }
            // A user without a name has not logged out. The entries of other users are not shown.
            if now.token != nil { return self.set(.unknown, shown: .nobody) }
            // Before the app has set a token, a missing token does not mean that the user has logged out.
            let isAnswer = now.isStored || !now.hasSession || self.lastOwner != .unknown
            self.set(isAnswer ? .nobody : .unknown)
        }
        return session != nil
    }

    /// Sets the user whose entries are sent.
    ///
    /// - Parameter shown: The user whose entries are shown. Default: `owner`. If `owner` is unknown, the last known
    ///   user.
    func set(_ owner: OutboxMachine.Owner, shown: OutboxMachine.Owner? = nil) {
        machine.set(owner)
        let old = lastOwner
        lastOwner = shown ?? (owner == .unknown ? old : owner)
        if lastOwner != old { publishOwner(after: old) }
    }

    /// Observes the network while no server can be reached.
    func observeNetwork() {
        guard machine.offlineUntil != nil, !isClosed else {
            waking = nil
            return
        }
        guard waking == nil, let reachability else { return }
        waking = reachability.statuses.observe(on: nil) { [weak self] status in
            guard let self, status.isReachable else { return }
            queue.async { self.machine.wake() }
            wakeUp()
        }
    }
}

/// A reference that the broadcaster of a core can have before the core exists.
private final class WeakCore: @unchecked Sendable {  // because it is set before other threads use it
    weak var core: OutboxCore?
}
