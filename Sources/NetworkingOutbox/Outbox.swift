public import Foundation
public import Networking

/// A queue of writes that survives the end of the process: an entry is stored before it is sent, and is sent when the
/// network and the session allow it.
///
/// ```swift
/// let comments = try Outbox(for: service, in: folder, endpoints: [.init(CommentEndpoint.self, name: "comment")])
/// let token = comments.changes.observe { entry in list.show(entry) }
///
/// try await comments.enqueue(CommentEndpoint.add(to: 7, "hi"), order: "comments/7", expires: .seconds(72 * 3600))
/// ```
///
/// Each entry is one file with the endpoint, the encoded body and an idempotency key. The file contains no token and no
/// field of an adapter: the service makes the calls, with its adapters, handlers and retries. Entries with the same
/// `order` are sent one after the other; entries with different orders are sent at the same time.
///
/// ## When a write is sent again
///
/// The service repeats the call like any other call with an idempotency key: after a refresh, and by its retry policy.
/// The outbox itself sends an entry again, with the same key, if its response was lost, if no server has executed it,
/// or if the server answered with 408, 421, 425, 429, 503 or 529. A server that honours the key executes the write
/// once. For other servers, set ``InDoubt/ask``. A write that was refused holds back the later entries with the same
/// `order` until the app decides: ``drop(_:)``, ``edit(_:to:)`` or ``sendAgain(_:)``.
///
/// ## Users
///
/// An entry belongs to the user who was logged in when it was stored, and is sent only while this user is logged in. By
/// default, each log-in counts as another user. To send the remaining entries after the same user's next log-in, name
/// the users with `owner`.
///
/// ## Processes
///
/// An app and its extensions may use one folder. One process sends at a time. If a process ends while it sends, another
/// process continues when the lease has expired. The folder must be on a local disk.
public final class Outbox: Sendable {
    /// The broadcaster of the entries of all users. It publishes an entry when the entry is stored, sent or held back,
    /// and when it ends. The last state of an ended entry (``Entry/State/isEnd``) is published again to each new
    /// observation, even after a restart, until a process calls ``acknowledge(_:)``. Entries about which the app has to
    /// decide are also published again. The end of an entry that the app drops is published only once.
    public let changes: Broadcaster<Entry>
    let core: OutboxCore

    /// Opens an outbox, and begins to send its entries.
    ///
    /// - Parameters:
    ///   - service: The service that sends the entries.
    ///   - folder: The folder of the entries, which is created if it does not exist. Only the owner of the folder may
    ///     have access to it. On Apple platforms, the folder is not part of backups, because a restored entry would be
    ///     sent again.
    ///   - endpoints: The endpoints that can be stored.
    ///   - owner: Returns the name of the user of a token, such as the id in ``AccessToken/userInfo``. The name must be
    ///     the same for all tokens of a user. The token is nil if nobody is logged in or if the service has no session.
    ///     Without a session, return the user whose credentials the adapters add now. Without a token, a nil result
    ///     means that nobody is logged in. With a token, a nil result means that the token's user is not known. Writes
    ///     are then refused, unless the closure has named the user for an earlier token of the same log-in. Default:
    ///     ``AccessToken/session``, which each log-in changes. If the session has no users, as with a fixed token, all
    ///     tokens have one owner.
    ///   - inDoubt: What happens if a response was lost. Default: the entry is sent again.
    ///   - dropsAtLogOut: Whether the unsent entries of a user lose their content when this user is no longer logged
    ///     in. Default: false; the entries wait for their user.
    ///   - copiesFiles: Whether a body that is a file is copied into the folder. If not, the file must exist until the
    ///     entry has been sent. Default: true.
    ///   - maximumConcurrentSends: The maximum number of entries that are sent at the same time. Default: 4.
    ///   - reachability: The service that detects when the network can be reached again, so that a wait for the network
    ///     ends early. Default: nil.
    ///   - lease: If the process that sends has ended, another process continues after this time. Default: 10 seconds.
    /// - Throws: ``NetworkError`` if other users have access to the folder, or if two endpoints have the same name and
    ///   version; `CocoaError` with the path if the folder cannot be created.
    public init(
        for service: some NetworkRequesting, in folder: URL, endpoints: [Kind],
        owner: (@Sendable (AccessToken?) -> String?)? = nil, inDoubt: InDoubt = .sendAgain,
        dropsAtLogOut: Bool = false, copiesFiles: Bool = true, maximumConcurrentSends: Int = 4,
        reachability: ReachabilityService? = nil, lease: Duration = .seconds(10)
    ) throws {
        let core = try OutboxCore(
            client: service.client, kinds: KindTable(endpoints),
            folder: OutboxFolder(folder, lease: lease, clock: service.client.configuration.clock), owner: owner,
            asks: inDoubt == .ask, copiesFiles: copiesFiles, reachability: reachability,
            OutboxMachine.Options(
                limit: maximumConcurrentSends, dropsAtLogOut: dropsAtLogOut,
                sendsAnonymously: owner == nil || service.client.hasSession))
        self.core = core
        changes = core.changes
        core.start()
    }

    deinit { core.close() }

    /// Stores a write. When the method returns, the entry is on stable storage, and is sent even if the process ends.
    ///
    /// The endpoint's own idempotency key is the key of the entry. If the endpoint has no key, or has a new key for
    /// each call, the entry gets a new key.
    ///
    /// - Parameters:
    ///   - endpoint: The write. Its type must be one of the outbox's endpoints.
    ///   - order: A name. Entries with the same name are sent one after the other. Default: nil; the entry is
    ///     independent of all others.
    ///   - expires: The time after which the outbox no longer sends the entry. The entry then ends with
    ///     ``Entry/State/expired``. Choose a time that is not longer than the time for which the server remembers
    ///     idempotency keys. Default: nil; the entry never expires.
    /// - Returns: The entry, as a receipt.
    /// - Throws: ``NetworkError/Kind/invalidRequest`` if the endpoint cannot be stored, or its request cannot be
    ///   created; ``NetworkError/Kind/noToken`` if the endpoint needs a token and nobody is logged in; `CocoaError`
    ///   with the path if the entry cannot be written. If the method throws, nothing is stored.
    @discardableResult
    public func enqueue(_ endpoint: some Endpoint, order: String? = nil, expires: Duration? = nil) async throws -> Entry
    {
        try await core.enqueue(endpoint, order: order, expires: expires)
    }

    /// Returns the entries of the current user that have not ended, and the entries that cannot be read. They are in
    /// the order in which they were stored.
    ///
    /// - Parameter order: The `order` of the entries to return. Default: nil, all entries.
    /// - Throws: `CocoaError` with the path if the folder cannot be read.
    public func pending(in order: String? = nil) async throws -> [Entry] { try await core.pending(in: order) }

    /// Sends the entries that can be sent now. The pauses between attempts are skipped, except a pause that the server
    /// has requested. Use this method when the app gets time in the background.
    ///
    /// - Parameter limit: The longest time to wait. The calls in progress continue after that.
    /// - Returns: The number of entries of the current user that wait to be sent. Entries that wait for a decision, and
    ///   the entries behind them, do not count.
    @discardableResult
    public func flush(within limit: Duration) async -> Int { await core.flush(within: limit) }

    /// Removes an entry that has not been sent. If the entry is being sent, the method waits for the end of its call,
    /// and cancels the call if the request has not been sent yet. While another process sends, the method waits for
    /// that process. To stop waiting, cancel the task that calls the method.
    ///
    /// - Returns: Whether the entry was removed. False if it has been sent or does not exist. Also false if the process
    ///   that sent the entry has ended, so that the entry is in doubt now. In this case, decide again.
    @discardableResult
    public func drop(_ id: Entry.ID) async throws -> Bool { try await core.drop(id) }

    /// Replaces the endpoint of an entry that has not been sent: the entry keeps its place in its order, and gets a new
    /// idempotency key. If the response was lost, the server may have executed the old write. The method waits as
    /// ``drop(_:)`` does.
    ///
    /// - Returns: Whether the entry was changed. False in the same cases as for ``drop(_:)``.
    @discardableResult
    public func edit(_ id: Entry.ID, to endpoint: some Endpoint) async throws -> Bool {
        try await core.edit(id, to: endpoint)
    }

    /// Sends an entry again that was refused or is in doubt. After a refusal, the entry gets a new idempotency key,
    /// because the server may repeat its response to the old key. In three cases, the entry keeps its key: the entry is
    /// in doubt; the server refused it with a server error (500); the server refused it with 401, 403 or 407.
    ///
    /// - Returns: Whether the entry waits to be sent. False in the same cases as for ``drop(_:)``.
    @discardableResult
    public func sendAgain(_ id: Entry.ID) async throws -> Bool { try await core.sendAgain(id) }

    /// Removes an entry that has ended, so that its end is not reported again.
    public func acknowledge(_ id: Entry.ID) async throws { try await core.acknowledge(id) }

    /// What happens if the response to a write was lost, and the server may have executed the write.
    public enum InDoubt: Sendable {
        /// The entry is sent again, with the same idempotency key.
        case sendAgain
        /// Neither the outbox nor a retry sends the entry again: the app decides. Use this setting for servers that do
        /// not honour idempotency keys.
        case ask
    }
}
