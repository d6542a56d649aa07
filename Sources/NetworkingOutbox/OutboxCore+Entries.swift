import Foundation
import Networking

// What the app asks for.
extension OutboxCore {
    func enqueue(_ endpoint: some Endpoint, order: String?, expires: Duration?) async throws -> Outbox.Entry {
        let call = try kinds.encode(endpoint)
        let id = random.uuid()
        let request = try client.writeRequest(of: endpoint)
        let session = try await client.writeSession(fetching: false)
        await updateOwner()
        let owner = try await owner(of: endpoint, in: session)
        let (body, part) = try await stored(request.body, of: id)
        let now = clock.date()
        let record = OutboxRecord(
            id: id, key: key(of: request), order: order, owner: owner, enqueued: now,
            expires: expires.map { now.addingTimeInterval($0 / .seconds(1)) }, asks: asks, call: call, body: body)
        let entry = try await on {
            let (name, names) = try self.folder.add(record, body: part)
            // Another process may have stored an entry before this one in the same order.
            self.reload(names, completely: false)
            return self.entry(name) ?? Outbox.Entry(record, endpoint, .waiting)
        }
        wakeUp()
        return entry
    }

    /// Returns the user who writes now.
    func owner(of endpoint: any Endpoint, in session: WriteSession) async throws -> String? {
        if let owner = owner(in: session) { return owner }
        // If the session is over, the write belongs to the last user. It can be sent after this user's next log-in. If
        // another session has begun meanwhile, the last user may be that of the other session.
        let last = await on { self.client.currentWriteSession.number == session.number ? self.lastOwner : .unknown }
        if session.isOver, case .user(let owner) = last { return owner }
        let (sendsToken, needsToken) = client.authorization(of: endpoint)
        guard needsToken || sendsToken && session.token != nil else { return nil }
        let reason =
            if session.token == nil {
                "nobody is logged in"
            } else if ownerOfToken != nil {
                "`owner` has returned nil for the current token (the closure of a refresh has to copy `userInfo`)"
            } else {
                "the token has no owner: name the owner with `owner`, or give the token the id of its session"
            }
        throw NetworkError(.noToken, reason: "outbox: the write carries a token and therefore needs a user: \(reason)")
    }

    /// Returns the key of a request, or a new key if the request has none.
    private func key(of request: HTTPRequest) -> String {
        request.headers[.idempotencyKey] ?? random.uuid().uuidString.lowercased()
    }

    /// Stores a body: in the record, or in a file.
    private func stored(
        _ body: HTTPBody, of id: UUID
    ) async throws -> (body: OutboxRecord.Body?, part: PartialBody?) {
        guard !body.isResumable else {
            throw KindTable.fault("expected a body without `resumable`, because an outbox sends each body as a whole")
        }
        if body.isEmpty || body.isOfFile && !copiesFiles { return (nil, nil) }
        let headers = body.headers.map { [$0.name.description, $0.value] }
        if let bytes = body.data, bytes.count <= OutboxFolder.largestInlineBody {
            return (OutboxRecord.Body(headers: headers, bytes: bytes), nil)
        }
        let other = random.uuid()
        let part = try await on { try PartialBody(in: self.folder, of: id, other) }
        let file = try await part.write(body)
        return (OutboxRecord.Body(headers: headers, file: file), part)
    }

    func pending(in order: String?) async throws -> [Outbox.Entry] {
        await updateOwner()
        return try await on {
            try self.reload(completely: true)
            // The lane is also known for an entry that cannot be read.
            var lanes: Set<UInt64?>?
            if let order {
                lanes = [OutboxRecord.lane(of: order, owner: nil)]
                if case .user(let user) = self.lastOwner { lanes?.insert(OutboxRecord.lane(of: order, owner: user)) }
            }
            return self.machine.entries.values
                .filter { self.isShown($0) && !self.hasEnded($0.name) && lanes?.contains($0.name.lane) != false }
                .map(\.name).sorted().compactMap { self.entry($0) }
        }
    }

    /// Whether an entry belongs to the current user, or to nobody.
    private func isShown(_ entry: OutboxMachine.Entry) -> Bool {
        entry.owner.map { lastOwner == .user($0) } ?? true
    }

    func flush(within limit: Duration) async -> Int {
        let end = Settlement<Void>()
        await on {
            self.machine.wake()
            self.flushes.append((self.passes, end))
        }
        wakeUp()
        try? await end.value(within: limit, on: clock) { _ in .success(()) }
        return await on {
            try? self.reload(completely: true)  // another process may have sent some entries
            return self.machine.entries.values.count {
                $0.stage != .ended && $0.stage != .held && self.isShown($0) && self.machine.obstacle(of: $0.name) == nil
            }
        }
    }

    func drop(_ id: UUID) async throws -> Bool {
        try await decide(id) { name in
            let entry = self.entry(name, as: .dropped)
            guard try self.folder.remove(name) else { return false }
            self.forget(name)
            if let entry { self.changes.publish(entry) }
            return true
        }
    }

    func edit(_ id: UUID, to endpoint: some Endpoint) async throws -> Bool {
        let call = try kinds.encode(endpoint)
        let request = try client.writeRequest(of: endpoint)
        let (body, part) = try await stored(request.body, of: id)
        let key = key(of: request)
        let needsToken = client.authorization(of: endpoint).needsToken
        return try await decide(id) { name in
            if needsToken, try self.folder.record(name)?.owner == nil {
                throw KindTable.fault(
                    "the entry was stored while nobody was logged in: expected an endpoint that needs no token, found an endpoint that needs a token"
                )
            }
            return try self.change(name, body: part) { record in
                (record.call, record.body, record.key, record.state) = (call, body, key, .waiting)
                record.isDoubtful = false
            }
        }
    }

    func sendAgain(_ id: UUID) async throws -> Bool {
        let key = random.uuid().uuidString.lowercased()
        return try await decide(id) { name in
            try self.change(name) { record in
                if case .refused(let status?, _, _) = record.state, HTTPStatus(status).belongsToKey { record.key = key }
                record.state = .waiting
            }
        }
    }

    private func change(
        _ name: OutboxName, body part: PartialBody? = nil, _ change: (inout OutboxRecord) -> Void
    ) throws -> Bool {
        unrecorded[name] = nil
        guard try folder.change(name, body: part, change) != nil else { return false }
        read(name)
        machine.resume(name)
        publish(name)
        return machine.entries[name]?.stage == .waiting
    }

    func acknowledge(_ id: UUID) async throws {
        try await on {
            try self.reload(completely: true)
            guard let name = self.machine.entries.keys.first(where: { $0.id == id }), self.hasEnded(name) else {
                return
            }
            try self.folder.remove(name)
            self.forget(name)
        }
    }

    /// Changes an entry that has not ended. If this process is sending the entry, waits for the end of its call. Other
    /// processes send no entries during the change.
    ///
    /// - Parameter change: Returns whether the entry was changed.
    private func decide(
        _ id: UUID, _ change: @escaping @Sendable (OutboxName) throws -> Bool
    ) async throws -> Bool {
        defer { wakeUp() }
        do {
            while true {
                var turn = try await on { try self.isLeader ? self.turn(id, change) : nil }
                if turn == nil {
                    turn = try await lead { try await self.on { try self.turn(id, change) } }
                }
                switch turn {
                case .done(let isChanged): return isChanged
                case .wait(let end): try await end.value()
                case nil: break
                }
            }
        } catch let fault as OutboxRecord.Fault {
            throw KindTable.fault(fault.description, underlying: fault)
        } catch is LeaseLost {
            return try await decide(id, change)
        } catch  where error is Interruption || error is CancellationError {
            throw NetworkError(.cancelled)
        }
    }

    private enum Turn: Sendable {
        case done(Bool)
        /// The entry is being sent.
        case wait(Settlement<Void>)
    }

    private func turn(_ id: UUID, _ change: (OutboxName) throws -> Bool) throws -> Turn {
        try reload(completely: true)
        guard let name = machine.entries.keys.first(where: { $0.id == id }), !hasEnded(name) else {
            return .done(false)
        }
        guard machine.inFlight.contains(name) else {
            // The process that sent the entry has ended. The app does not know yet that the entry is in doubt.
            guard machine.entries[name]?.stage == .marked else { return .done(try change(name)) }
            wakeUp()
            return .done(false)
        }
        // A call that waits for a permit, a token or the network can be ended.
        if let call = calls[name], call.hasLeft.outcome == nil { call.task?.cancel() }
        let end = Settlement<Void>()
        ends[name, default: []].append(end)
        return .wait(end)
    }

    private func hasEnded(_ name: OutboxName) -> Bool {
        machine.entries[name]?.stage == .ended || unrecorded[name]?.state.isEnd == true
    }
}

extension HTTPStatus {
    /// Whether a server may send this response again to every request with the same idempotency key. A server that
    /// refuses the user has not used the key yet. After a server error, the server may execute a repeated write.
    fileprivate var belongsToKey: Bool {
        isClientError && ![.unauthorized, .forbidden, .proxyAuthenticationRequired].contains(self)
    }
}
