import Foundation
import Networking

extension InspectorContent.Summary {
    init(_ call: InspectorCall, _ redaction: Redaction, _ queues: InspectorQueues) {
        let report = call.report
        let request = report?.request
        number = call.number
        method = (request?.method ?? call.lastRequest?.method ?? call.method).rawValue.onOneLine
        template = call.template.onOneLine
        path = (request?.url ?? call.lastRequest?.url)?.path.onOneLine
        endpoint = "\(call.endpoint)".onOneLine
        status = (report == nil ? call.lastStatus : report?.status)?.code
        kind = report?.error.map { InspectorText.kind(of: $0, in: call) }
        source = report?.response.map { $0.isShared ? "joined" : "\($0.source)" }
        begun = call.date.milliseconds
        waitsSince = call.waitsSince.map { call.date.milliseconds + $0.milliseconds }
        duration = report?.duration.milliseconds
        attempts = call.attemptCount
        (sent, received) = call.lastSizes
        if let report {
            let isCancelled = call.failure?.kind == .cancelled
            state = report.error == nil ? "done" : isCancelled ? "cancelled" : "failed"
            reason = report.error.map { InspectorText.cause($0, of: call) }
        } else if let wait = call.currentWait {
            (state, reason) = ("waiting", queues.reason(wait, of: call))
        } else {
            (state, reason) = ("running", call.moments.last.map { InspectorText.phase(after: $0.step) })
        }
    }
}

extension InspectorContent.Details {
    init(_ call: InspectorCall, _ redaction: Redaction) {
        number = call.number
        id = call.id.uuidString.lowercased()
        let last = call.attempts.last?.request
        url = (last?.url ?? call.lastRequest?.url).map { redaction.text(of: $0).onOneLine }
        error = call.end?.error.map { InspectorText.error($0, of: call) }
        curl = last?.curlCommand(redaction: redaction)
        omittedMessages = call.omitted.messages
        omittedSteps = call.omitted.moments
        steps = InspectorText.steps(of: call, redaction)
        messages = call.messages.sorted { $0.date < $1.date }.map { message in
            let summary = Redaction.summary(of: message.size, nil)
            let begin = redaction.text(of: message.message.data, type: nil)
            let isWhole = message.message.data.count == message.size
            return InspectorContent.Message(
                time: message.date.timeIntervalSince(call.date) * 1_000, isSent: message.isSent,
                text: !redaction.showsBodies ? summary : isWhole ? begin : "\(begin)… \(summary)")
        }
        attempts =
            call.attempts.indices.map { InspectorContent.Attempt($0, of: call, redaction) }
            + (InspectorContent.Attempt(inProgress: call).map { [$0] } ?? [])
    }
}

extension InspectorContent.Attempt {
    init(_ index: Int, of call: InspectorCall, _ redaction: Redaction) {
        let attempt = call.attempts[index]
        number = attempt.number
        begun = attempt.start.milliseconds
        duration = attempt.duration.milliseconds
        outcome = attempt.description.onOneLine
        decisions = attempt.decisions.map { $0.description.onOneLine }
        exchanges = call.exchanges(of: index, redaction)
        phases = InspectorContent.Attempt.phases(attempt, queued: call.waitForPermit(of: attempt.number))
    }

    /// The attempt in progress; nil if there is none.
    init?(inProgress call: InspectorCall) {
        let moments = call.moments(of: call.attemptCount)
        guard call.end == nil, let first = moments.first, let last = moments.last else { return nil }
        if case .attemptEnded = last.step { return nil }
        let begin = first.time - call.begun
        (number, begun, duration) = (call.attemptCount, begin.milliseconds, nil)
        (outcome, decisions, exchanges) = ("in progress", [], [])
        var name = "queue"
        var from = begin
        var phases: [InspectorContent.Phase] = []
        for moment in moments.dropFirst() + [InspectorCall.Moment(time: .now, step: .sent)] {
            let time = moment.time - call.begun
            phases.append(InspectorContent.Phase(name, from: from, to: time))
            from = time
            switch moment.step {
            case .permit: name = "adapting"
            case .adapted, .redirected: name = "wait"
            case .head: name = "receive"
            default: break
            }
        }
        self.phases = phases.filter { $0.duration > 0 }
    }

    /// - Parameter queued: The time until the attempt had its permit; nil if it is not known.
    private static func phases(_ attempt: RequestAttempt, queued: Duration?) -> [InspectorContent.Phase] {
        var phases: [InspectorContent.Phase] = []
        var position = attempt.start
        let end = attempt.start + attempt.duration
        func add(_ name: String, until time: Duration) {
            let time = min(time, end)
            guard time > position else { return }
            phases.append(InspectorContent.Phase(name, from: position, to: time))
            position = time
        }
        let handedOver = attempt.queued.map { attempt.start + $0 }
        add("queue", until: min(queued.map { attempt.start + $0 } ?? end, handedOver ?? end))
        add("adapting", until: handedOver ?? end)
        for hop in attempt.redirects { add("redirect", until: position + (hop.timing.total ?? .zero)) }
        // If another call began the transfer, the times of the response belong to that call.
        if let response = attempt.response, response.source != .cache, !response.isShared {
            let (sent, timing) = (position, response.timing)
            for (name, time) in [
                ("lookup", timing.nameLookup), ("connect", timing.connect), ("tls", timing.tls),
                ("wait", timing.firstByte), ("receive", timing.total),
            ] {
                if let time { add(name, until: sent + time) }
            }
        }
        add(attempt.response == nil || attempt.response?.isShared == true ? "wait" : "read", until: end)
        return phases
    }
}

extension InspectorContent.Phase {
    init(_ name: String, from begin: Duration, to end: Duration) {
        self.init(name: name, begun: begin.milliseconds, duration: (end - begin).milliseconds)
    }
}

extension InspectorCall {
    /// The error before any error handler changed it; nil if there is none.
    var failure: NetworkError? { (end?.error ?? attempts.last?.error) as? NetworkError ?? lastFailure }

    private var lastFailure: NetworkError? { attempts.last?.error as? NetworkError }

    /// The time from the start of an attempt to its permit; nil if it is not known.
    func waitForPermit(of number: Int) -> Duration? {
        let moments = self.moments(of: number)
        let permit = moments.first { if case .permit = $0.step { true } else { false } }
        guard let permit, let first = moments.first else { return nil }
        return permit.time - first.time
    }

    /// The exchanges of an attempt, as a HAR archive has them.
    func exchanges(of index: Int, _ redaction: Redaction) -> [HARArchive.Entry] {
        let attempt = attempts[index]
        let report = CallReport(of: nil, date: end?.date ?? date, last: attempt, duration: attempt.duration)
        var entries = HARArchive.entries(of: report, redaction: redaction)
        guard let last = entries.indices.last else { return [] }
        for (index, size) in zip(entries.indices.dropLast(), sizes[index].hops) {
            guard let kept = entries[index].response.content?.size, kept < size else { continue }
            entries[index].response.content?.size = size
            entries[index].response.content?.comment = HARArchive.Content.hidden
            if !redaction.showsBodies { entries[index].response.content?.text = Redaction.summary(of: size, nil) }
        }
        if let size = sizes[index].received, case .data(let kept)? = attempt.response?.content, kept.count < size {
            entries[last].response.content?.size = size
            entries[last].response.content?.comment = HARArchive.Content.hidden
            if redaction.showsBodies {
                let note = "only the first \(kept.count) of \(size) bytes of the response are kept"
                let comment = entries[last].comment
                entries[last].comment = comment.map { "\($0); \(note)" } ?? note
            } else {
                let type = attempt.response?.headers.contentType
                entries[last].response.content?.text = Redaction.summary(of: size, type)
            }
        }
        if entries[last].messages != nil {
            entries[last].messages = messages.sorted { $0.date < $1.date }.map { message in
                var shown = HARArchive.SocketMessage(
                    message.message, message.isSent ? "send" : "receive", message.date, redaction)
                if !redaction.showsBodies { shown.data = Redaction.summary(of: message.size, nil) }
                return shown
            }
        }
        return entries
    }
}
