extension Duration {
    /// The whole nanoseconds, cut to what fits.
    var nanoseconds: Int {
        let (seconds, attoseconds) = components
        let limit = Int64(Int.max / 1_000_000_000 - 1)
        return Int(min(max(seconds, -limit), limit)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}

extension Duration {
    /// For messages, to the millisecond: `30 s`, `0.2 s`, `1.5 ms`.
    var words: String {
        let nanoseconds = nanoseconds
        if nanoseconds.magnitude < 1_000_000_000, nanoseconds % 100_000_000 != 0 {
            return "\(Duration.number(Double(nanoseconds / 1_000) / 1_000)) ms"
        }
        return "\(Duration.number(Double(nanoseconds / 1_000_000) / 1_000)) s"
    }

    private static func number(_ value: Double) -> String {
        Int(exactly: value).map { "\($0)" } ?? "\(value)"
    }
}
