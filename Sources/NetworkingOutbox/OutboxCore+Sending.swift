import Foundation
import Networking

// One call of one entry.
extension OutboxCore {
    /// The maximum number of bytes of a response body that are kept.
    private static let responseSize = 64 << 10

    /// A call in progress.
    struct Call: Sendable {
        let id = UUID()
        /// Settled when the request is handed to the transport.
        let hasLeft = Settlement<Void>()
        var task: Task<WriteOutcome, Never>?
    }

    private struct Letter: Sendable {
        let record: OutboxRecord
        let endpoint: any Endpoint
        let body: HTTPBody?
    }

    /// Sends an entry, and records the outcome.
    func send(_ name: OutboxName) async {
        do {
            guard let letter = try await open(name) else { return await on { self.end(name, as: .stale) } }
            guard let outcome = try await outcome(of: letter, name) else {
                return await on { self.end(name, as: .stale) }
            }
            await on { self.end(name, with: outcome, letter.record) }
        } catch let fault as OutboxRecord.Fault {
            await on {
                self.faults[name] = fault.description
                self.end(name, as: .refused)
            }
        } catch {
            // The entry, or the token, cannot be read or written now.
            await on { self.end(name, as: .notNow(after: nil, isOffline: false)) }
        }
    }

    /// Reads an entry. Returns nil if it does not wait any more.
    private func open(_ name: OutboxName) async throws -> Letter? {
        let (folder, kinds) = (folder, kinds)
        return try await onDisk {
            guard let record = try folder.record(name), case .waiting = record.state else { return nil }
            let endpoint = try kinds.decode(record.call)
            return Letter(record: record, endpoint: endpoint, body: try OutboxCore.body(of: record, in: folder))
        }
    }

    private static func body(of record: OutboxRecord, in folder: OutboxFolder) throws -> HTTPBody? {
        guard let body = record.body else { return nil }
        let headers = HTTPHeaders(body.headers.compactMap { $0.count == 2 ? HTTPHeader(.init($0[0]), $0[1]) : nil })
        if let bytes = body.bytes { return HTTPBody.data(bytes, contentType: nil).described(by: headers) }
        guard let file = body.file else { return .empty }
        return HTTPBody.file(try folder.body(file, of: record.id)).described(by: headers)
    }

    /// Makes the call. Returns nil if the entry does not wait any more.
    private func outcome(of letter: Letter, _ name: OutboxName) async throws -> WriteOutcome? {
        let record = letter.record
        let session = try await client.writeSession(fetching: true)
        let (sendsToken, needsToken) = client.authorization(of: letter.endpoint)
        guard mayBeSent(record, in: session), record.owner == nil || !sendsToken || session.isUsable else {
            return .noToken(NotTheOwner())
        }
        if needsToken, record.owner == nil {
            throw OutboxRecord.Fault(
                "the entry was stored while nobody was logged in, but its endpoint now needs a token")
        }
        var call = Call()
        let id = call.id
        if record.asks {
            let marked = try await on {
                try self.folder.change(name) { if case .waiting = $0.state { $0.state = .sending(call: id) } }
            }
            guard marked?.state == .sending(call: id) else { return nil }
        }
        let hasLeft = call.hasLeft
        let task = Task {
            await client.write(
                letter.endpoint, key: record.key, body: letter.body, reportsDoubt: record.asks, in: session,
                hasOwner: record.owner != nil
            ) { [self] in
                guard mayBeSent(record, in: client.currentWriteSession) else { throw NotTheOwner() }
                // After a loss of the lease, another process may have sent or changed the entry.
                guard let now = try? folder.record(name), now.key == record.key,
                    now.state == (record.asks ? .sending(call: id) : .waiting)
                else { throw Stale() }
                if let expires = record.expires, clock.date() >= expires { throw Expired() }
                hasLeft.settle(.success(()))
            }
        }
        call.task = task
        let running = call
        await on { self.calls[name] = running }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Whether the user of an entry is logged in, or the entry belongs to nobody.
    private func mayBeSent(_ record: OutboxRecord, in session: WriteSession) -> Bool {
        let user = owner(in: session).map { OutboxMachine.Owner.user($0) } ?? .nobody
        return user.maySend(writeOf: record.owner, anonymously: session.hasSession)
    }

    private func end(_ name: OutboxName, with outcome: WriteOutcome, _ record: OutboxRecord) {
        failures[name] = outcome.reasonToWait.map { OutboxCore.reason($0) }
        switch outcome {
        case .executed(let response):
            let body = Data(response.data.prefix(OutboxCore.responseSize))
            end(name, as: .executed, recording: .sent(status: response.status.code, body: body))
        case .refused(let error, _, _) where error is NotTheOwner:
            end(name, as: .noToken, recording: record.asks ? .waiting : nil)
        case .refused(let error, _, _) where error is Stale:
            end(name, as: .stale)
        case .refused(let error, _, _) where error is Expired:
            end(name, as: .stale, recording: record.asks ? .waiting : nil)
        case .refused(let error, _, mayBeExecuted: true) where record.asks:
            end(name, as: .lost, recording: .inDoubt(reason: OutboxCore.reason(error)))
        case .refused(let error, let response, _):
            let body = Data((response?.data ?? Data()).prefix(OutboxCore.responseSize))
            let reason = OutboxCore.reason(error)
            end(
                name, as: .refused,
                recording: .refused(status: response?.status.code, reason: reason, body: body))
        case .notNow(_, let delay, let isOffline):
            end(name, as: .notNow(after: delay, isOffline: isOffline), recording: record.asks ? .waiting : nil)
        case .noToken:
            end(name, as: .noToken, recording: record.asks ? .waiting : nil)
        case .inDoubt(let error):
            end(
                name, as: .lost,
                recording: record.asks ? .inDoubt(reason: OutboxCore.reason(error)) : .waiting)
        }
    }

    /// Ends the call of an entry.
    ///
    /// - Parameter state: The state to record; nil if the entry's file need not be changed.
    private func end(_ name: OutboxName, as end: OutboxMachine.End, recording state: OutboxRecord.State? = nil) {
        let call = calls.removeValue(forKey: name)
        machine.end(name, as: end, at: clock.now(), fraction: random.fraction())
        if let state {
            // If the note cannot be recorded now, it is recorded later.
            try? record(OutboxNote(state: state, isLost: end == .lost, call: call?.id), of: name)
        } else {
            if end == .stale { marks[name] = nil }
            publish(name)
        }
        if machine.entries[name]?.stage == .held { publishFollowers(of: name) }
        for wait in ends.removeValue(forKey: name) ?? [] { wait.settle(.success(())) }
        wakeUp()
    }

    /// The text of an error, without secrets.
    private static func reason(_ error: any Error) -> String {
        ((error as? NetworkError)?.description ?? "\(type(of: error))").onOneLine
    }
}

extension OutboxMachine.End {
    /// The end of a call whose entry was changed before the call could send it.
    fileprivate static let stale = OutboxMachine.End.notNow(after: nil, isOffline: false)
}

extension WriteOutcome {
    /// Why the write has to be sent again.
    fileprivate var reasonToWait: (any Error)? {
        switch self {
        case .executed, .refused: nil
        case .notNow(let error, _, _), .noToken(let error), .inDoubt(let error): error is NotTheOwner ? nil : error
        }
    }
}

/// The user who has written an entry is not logged in.
private struct NotTheOwner: Error {}

/// An entry has changed since its call began.
private struct Stale: Error {}

/// The expiry time of an entry has passed.
private struct Expired: Error {}
