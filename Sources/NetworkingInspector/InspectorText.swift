import Foundation
import Networking

/// The sentences of the page.
enum InspectorText {
    static func wait(_ wait: RequestWait) -> String {
        switch wait {
        case .admission(let policy):
            switch policy {
            case "ConcurrencyLimit": "waits for a permit (ConcurrencyLimit)"
            case "BackoffGate": "waits, because the host has asked for a pause (BackoffGate)"
            case "TokenGate": "waits for an access token"
            default: "waits for \(policy.onOneLine)"
            }
        case .retry(let delay, let decision):
            delay > .zero ? "waits \(seconds(delay)) before the next attempt" : "\(decision)".onOneLine
        case .connectivity: "waits for a network connection"
        case .paused: "is paused"
        }
    }

    static func phase(after step: InspectorCall.Step) -> String {
        switch step {
        case .attempt: "waits for a permit"
        case .permit: "runs the adapters"
        case .adapted: "is about to be sent"
        case .sent: "waits for the response"
        case .redirected: "follows a redirect"
        case .head: "receives the body"
        case .attemptEnded: "the error handlers decide"
        case .wait(let wait): self.wait(wait)
        }
    }

    /// Returns the kind of the error of a call. For an error of the app, this is the kind of the original failure.
    static func kind(of error: any Error, in call: InspectorCall) -> String {
        (call.failure?.kind.description ?? error.typeName).onOneLine
    }

    /// Returns the error of a call. The text of an error of the app may contain anything, so only its type and the
    /// original failure are shown.
    static func error(_ error: any Error, of call: InspectorCall) -> String {
        guard !(error is NetworkError) else { return "\(error)".onOneLine }
        let words = call.failure.map { "\($0)" } ?? call.report.map { "\($0)" } ?? "no response"
        return "\(words), thrown as \(error.typeName)".onOneLine
    }

    /// Returns the error of a call, without the values that the line of the call shows already, and with the last
    /// decision about the error.
    static func cause(_ error: any Error, of call: InspectorCall) -> String {
        guard var known = call.failure else { return self.error(error, of: call) }
        known.retryDecision = known.retryDecision ?? call.attempts.last?.decision
        (known.request, known.attempts) = (nil, 1)
        return (error is NetworkError ? "\(known)" : "\(known), thrown as \(error.typeName)").onOneLine
    }

    /// Returns every step of a call, with the changes by the adapters and the decisions of the error handlers.
    static func steps(of call: InspectorCall, _ redaction: Redaction) -> [InspectorContent.Step] {
        var steps: [InspectorContent.Step] = []
        var original: HTTPRequest?
        // If steps were removed, only the last attempts still have a step for their end.
        let ends = call.moments.count { if case .attemptEnded = $0.step { true } else { false } }
        var attempts = call.attempts.suffix(ends)
        func add(_ moment: InspectorCall.Moment, _ text: String) {
            steps.append(
                InspectorContent.Step(time: (moment.time - call.begun).milliseconds, text: text.onOneLine))
        }
        for moment in call.moments {
            switch moment.step {
            case .attempt(let number, let request):
                original = request
                add(moment, "attempt \(number) begins: \(request.method) \(redaction.text(of: request.url))")
            case .wait(.retry(.zero, _)): continue
            case .wait(let wait): add(moment, self.wait(wait))
            case .permit: add(moment, "has its permit")
            case .adapted(let request): add(moment, adapting(original, request))
            case .sent: add(moment, "sent")
            case .redirected(let status, let url): add(moment, "\(status) redirects to \(redaction.text(of: url))")
            case .head(let status): add(moment, "head of the response: \(status)")
            case .attemptEnded:
                guard let attempt = attempts.popFirst() else { continue }
                add(moment, "attempt \(attempt)")
                for decision in attempt.decisions { add(moment, "error handlers: \(decision)") }
            }
        }
        if let end = call.end {
            let outcome = end.error.map { "ended with \($0.typeName)" } ?? "ended with a value"
            steps.append(InspectorContent.Step(time: (end.time - call.begun).milliseconds, text: outcome))
        }
        return steps
    }

    /// Says what the adapters, and the defaults of the environment, have changed. Only the names of fields are shown.
    private static func adapting(_ original: HTTPRequest?, _ adapted: HTTPRequest) -> String {
        guard let original else { return "adapting: done" }
        func values(_ request: HTTPRequest) -> [HTTPHeader.Name: [String]] {
            request.headers.reduce(into: [:]) { $0[$1.name, default: []].append($1.value) }
        }
        let (before, after) = (values(original), values(adapted))
        func names(_ isListed: (HTTPHeader.Name) -> Bool) -> [String] {
            var seen: Set<HTTPHeader.Name> = []
            return (adapted.headers.map(\.name) + original.headers.map(\.name))
                .filter { seen.insert($0).inserted && isListed($0) }.map(\.rawValue)
        }
        let changes = [
            ("added", names { before[$0] == nil }), ("removed", names { after[$0] == nil }),
            ("changed", names { before[$0] != nil && after[$0] != nil && before[$0] != after[$0] }),
        ]
        var words = changes.filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.joined(separator: ", "))" }
        if original.url != adapted.url { words.append("changed the URL") }
        if original.method != adapted.method { words.append("changed the method") }
        return
            "adapting: \(words.isEmpty ? "no change of the method, the URL or a field" : words.joined(separator: "; "))"
    }

    static func seconds(_ duration: Duration) -> String {
        let value = duration / .seconds(1)
        return value < 1 ? "\((value * 1_000).rounded()) ms" : "\((value * 10).rounded() / 10) s"
    }
}
