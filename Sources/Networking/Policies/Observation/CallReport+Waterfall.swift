import Foundation

extension CallReport {
    /// The call as text. The first line describes the call. Each further line describes one attempt: a bar that shows
    /// when the attempt ran, its status, its duration and notes.
    ///
    /// In a bar, `.` means waiting for a permit and a token, `=` sending and waiting for the first byte, and `#`
    /// receiving. If the engine does not report the first byte, `=` also includes receiving.
    ///
    /// ```text
    /// GET 127.0.0.1:8080/contacts/7: 200 OK in 40 ms, 2 attempts
    ///   1 |..=====                         | 401  10 ms  token 1; retried: the token was refreshed
    ///   2 |              ==========########| 200  20 ms  token 2
    /// ```
    public var waterfall: String {
        let width = 32
        let scale = Double(width) / max(duration / .nanoseconds(1), 1)
        let rows = attempts.map { attempt in
            let bar = attempt.bar(width: width, scale: scale)
            let outcome = attempt.response.map { "\($0.status.code)" } ?? "---"
            let notes = attempt.notes
            return "  \(attempt.number) |\(bar)| \(outcome)  \(attempt.duration.shortText)"
                + (notes.isEmpty ? "" : "  \(notes.joined(separator: "; "))")
        }
        return ([description] + rows).joined(separator: "\n")
    }
}

extension RequestAttempt {
    fileprivate func bar(width: Int, scale: Double) -> String {
        func position(_ time: Duration) -> Int { min(max(Int((time / .nanoseconds(1) * scale).rounded()), 0), width) }
        let begun = position(start)
        let sent = position(start + (queued ?? duration))
        let end = max(position(start + duration), min(begun + 1, width))
        let hops = redirects.map { $0.timing.total ?? .zero }.reduce(.zero, +)
        let firstByte =
            queued.flatMap { queued in response?.timing.firstByte.map { position(start + queued + hops + $0) } } ?? end

        let parts: [(Character, Int)] = [
            (" ", begun), (".", sent), ("=", min(firstByte, end)), ("#", end), (" ", width),
        ]
        var bar = ""
        for (character, upTo) in parts where upTo > bar.count {
            bar += String(repeating: character, count: upTo - bar.count)
        }
        return bar
    }

    /// The notes on the attempt: its token, error, source, redirects, connection and retry decision.
    fileprivate var notes: [String] {
        var notes: [String] = []
        if let tokenGeneration { notes.append("token \(tokenGeneration)") }
        if let fault { notes.append(fault) }
        if let source = response?.source.note { notes.append(source) }
        let redirects = redirects.count
        if redirects > 0 { notes.append(redirects == 1 ? "1 redirect" : "\(redirects) redirects") }
        if let timing = response?.timing, let connect = timing.connect, connect > .zero {
            notes.append("connected after \(connect.shortText)")
        }
        if let decision { notes.append(decision.description) }
        return notes
    }
}
