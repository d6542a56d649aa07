import Foundation
import Networking

/// The parts that the page shows, and what they have reported.
final class InspectorParts: Sendable {
    /// A part. If the part is an object, it is not retained, because it may retain a service that the inspector
    /// observes.
    private struct Entry: Sendable {
        let id: Int
        var names: [String]
        let value: (any InspectablePart)?
        weak var object: (any InspectablePart & AnyObject)?
        /// What the part has reported last; nil before its first report.
        var facts: [[String]]?
        var kind = ""
        var isAsked = false
        /// The observations of a session.
        var tokens: [ObservationToken] = []

        var part: (any InspectablePart)? { value ?? object }
    }

    private struct State: Sendable {
        var entries: [Entry] = []
        var next = 0
        var asked: ContinuousClock.Instant?
    }

    private let log: InspectorLog
    private let state = Locked(State())

    init(_ log: InspectorLog) { self.log = log }

    /// Adds a part. If the part is an object that is already shown, only adds the name, because services often share a
    /// session.
    ///
    /// - Returns: Whether the part is new.
    @discardableResult
    func add(_ part: any InspectablePart, as name: String) -> Bool {
        let object = type(of: part) is AnyClass ? part as? (any InspectablePart & AnyObject) : nil
        let isNew = state.withLock { state in
            if let object, let index = state.entries.firstIndex(where: { $0.object === object }) {
                if !state.entries[index].names.contains(name) { state.entries[index].names.append(name) }
                return false
            }
            state.entries.removeAll { $0.part == nil }
            state.next += 1
            state.entries.append(
                Entry(
                    id: state.next, names: [name], value: object == nil ? part : nil, object: object,
                    kind: "\(type(of: part))".onOneLine))
            return true
        }
        if isNew, let gate = part as? BackoffGate { log.add(gate) }
        return isNew
    }

    func add(_ service: some NetworkRequesting, as name: String) {
        let session = service.client.inspectedSession
        for part in service.client.inspectableParts {
            let isNew = add(part, as: name)
            if isNew, let session, session === part as AnyObject { observe(session, as: name) }
        }
    }

    /// Notes the log-ins, the refreshes and the ends of a session.
    private func observe(_ session: AccessTokenSupervisor, as name: String) {
        let log = log
        let events = session.events.observe { event in
            switch event {
            case .refreshed: log.note(name, "the token was refreshed")
            case .unreachable(let error):
                log.note(name, "the refresh failed: \(InspectorParts.text(error))", isFault: true)
            case .sessionOver(let error):
                log.note(name, "the session is over: \(InspectorParts.text(error))", isFault: true)
            case .notStored(let error):
                log.note(name, "the token was not stored: \(InspectorParts.text(error))", isFault: true)
            }
        }
        let isLoggedIn = Locked<Bool?>(nil)
        let tokens = session.tokens.observe(replayingCurrent: true) { value in
            let hasToken = (value ?? nil) != nil
            let before = isLoggedIn.withLock { isLoggedIn in
                defer { isLoggedIn = hasToken }
                return isLoggedIn
            }
            guard before ?? false != hasToken else { return }
            log.note(name, hasToken ? "logged in" : "logged out")
        }
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.object === session }) else { return }
            state.entries[index].tokens = [events, tokens]
        }
    }

    private static func text(_ error: any Error) -> String {
        (error as? NetworkError).map { "\($0)" } ?? "\(type(of: error))"
    }

    /// Asks the parts what they are doing, unless they were asked less than a second ago.
    func refreshSoon() {
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            guard state.asked.map({ now - $0 >= .seconds(1) }) ?? true else { return false }
            state.asked = now
            return true
        }
        if isDue { Task { await refresh() } }
    }

    /// Asks the parts what they are doing, and waits for their answers at most for `limit`. A part that has not
    /// answered an earlier question yet is not asked again.
    func refresh(within limit: Duration = .seconds(1)) async {
        let asked = state.withLock { state -> [(Int, any InspectablePart)] in
            state.entries.indices.compactMap { index in
                guard !state.entries[index].isAsked, let part = state.entries[index].part else { return nil }
                state.entries[index].isAsked = true
                return (state.entries[index].id, part)
            }
        }
        let state = state
        let answers = asked.map { id, part in
            Task {
                let facts = await part.facts().map { [$0.name.onOneLine, $0.value.onOneLine] }
                state.withLock { state in
                    guard let index = state.entries.firstIndex(where: { $0.id == id }) else { return }
                    (state.entries[index].facts, state.entries[index].isAsked) = (facts, false)
                }
            }
        }
        let isOver = Settlement<Void>()
        Task {
            for answer in answers { await answer.value }
            isOver.settle(.success(()))
        }
        let timer = Task {
            try await Task.sleep(for: limit)
            isOver.settle(.success(()))
        }
        try? await isOver.value()
        timer.cancel()
        log.set(
            state.withLock { state in
                state.entries.compactMap { entry in
                    guard entry.part != nil else { return nil }
                    let facts = entry.facts ?? [["state", "has not answered yet"]]
                    return InspectorContent.Part(
                        name: entry.names.joined(separator: ", ").onOneLine, kind: entry.kind, facts: facts)
                }
            })
    }
}
