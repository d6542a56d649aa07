import Foundation
import Networking

// One call of one entry.
extension OutboxCore {
    /// The largest body of a response that is kept.
    private static let responseSize = 64 << 10

    private struct Letter: Sendable {
        let record: OutboxRecord
        let endpoint: any Endpoint
        let body: HTTPBody?
    }

    /// Sends an entry, and records the outcome.
    func send(_ name: OutboxName) async {
        do {
            let letter = try await on { try self.open(name) }
            guard let letter else { return await on { self.end(name, as: .notNow(after: nil, isOffline: false)) } }
            let outcome = try await outcome(of: letter, name)
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

    /// Reads an entry. Returns nil if it does not exist any more, or has ended.
    private func open(_ name: OutboxName) throws -> Letter? {
        guard let record = try folder.record(name), case .waiting = record.state else {
            marks[name] = nil
            return nil
        }
        let endpoint = try kinds.decode(record.call)
        return Letter(record: record, endpoint: endpoint, body: try body(of: record))
    }

    private func body(of record: OutboxRecord) throws -> HTTPBody? {
        guard let body = record.body else { return nil }
        let headers = HTTPHeaders(body.headers.compactMap { $0.count == 2 ? HTTPHeader(.init($0[0]), $0[1]) : nil })
        if let bytes = body.bytes { return HTTPBody.data(bytes, contentType: nil).described(by: headers) }
        guard let file = body.file else { return .empty }
        return HTTPBody.file(try folder.body(file)).described(by: headers)
    }

    private func outcome(of letter: Letter, _ name: OutboxName) async throws -> WriteOutcome {
        let record = letter.record
        let session = try await client.writeSession(fetching: true)
        let needsToken = client.needsToken(letter.endpoint)
        guard record.owner == nil || owner(in: session) == record.owner, !needsToken || session.isUsable else {
            return .noToken(NotTheOwner())
        }
        if needsToken, record.owner == nil {
            throw OutboxRecord.Fault("expected a write of a user, found one of nobody, which now needs a token")
        }
        if record.asks { _ = try await on { try self.folder.change(name) { $0.state = .sending } } }
        return await client.write(
            letter.endpoint, key: record.key, body: letter.body, reportsDoubt: record.asks, in: session
        ) { [self] in
            let token = client.tokens.map { $0.current ?? nil } ?? nil
            guard record.owner == nil || owner(in: session.with(token)) == record.owner else { throw NotTheOwner() }
            if let expires = record.expires, clock.date() >= expires { throw Expired() }
        }
    }

    private func end(_ name: OutboxName, with outcome: WriteOutcome, _ record: OutboxRecord) {
        switch outcome {
        case .executed(let response):
            let body = Data(response.data.prefix(OutboxCore.responseSize))
            end(name, as: .executed, recording: .sent(status: response.status.code, body: body))
        case .refused(let error, let response):
            let body = Data((response?.data ?? Data()).prefix(OutboxCore.responseSize))
            let reason = OutboxCore.reason(error)
            end(
                name, as: .refused,
                recording: .refused(status: response?.status.code, reason: reason, body: body))
        case .notNow(let error, let delay, let isOffline):
            let end: OutboxMachine.End =
                error is NotTheOwner ? .noToken : .notNow(after: delay, isOffline: isOffline)
            self.end(name, as: end, recording: record.asks ? .waiting : nil)
        case .noToken:
            end(name, as: .noToken, recording: record.asks ? .waiting : nil)
        case .inDoubt(let error):
            end(
                name, as: .lost,
                recording: record.asks ? .inDoubt(reason: OutboxCore.reason(error)) : nil)
        }
    }

    /// Ends the call of an entry.
    private func end(
        _ name: OutboxName, as end: OutboxMachine.End, recording state: OutboxRecord.State? = nil
    ) {
        machine.end(name, as: end, at: clock.now(), fraction: random.fraction())
        if let state {
            try? record(state, of: name)  // what cannot be recorded now is recorded later
        } else {
            publish(name)
        }
        for wait in ends.removeValue(forKey: name) ?? [] { wait.settle(.success(())) }
        wakeUp()
    }

    /// The text of an error, without secrets.
    private static func reason(_ error: any Error) -> String {
        ((error as? NetworkError)?.description ?? "\(type(of: error))").onOneLine
    }
}

/// Another user is logged in than the one who has written an entry, or none.
private struct NotTheOwner: Error {}

/// The time of an entry has passed.
private struct Expired: Error {}
