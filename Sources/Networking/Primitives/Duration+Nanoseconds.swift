extension Duration {
    /// The whole nanoseconds; about 292 years if it is longer. (`Int` has 32 bits on a watch, which is two seconds.)
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let limit = Int64.max / 1_000_000_000 - 1
        return min(max(seconds, -limit), limit) * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// The milliseconds, rounded up; at most what an `Int` holds.
    var milliseconds: Int { Int(clamping: (nanoseconds + 999_999) / 1_000_000) }
}

extension Duration {
    /// For messages, to the millisecond: `30 s`, `0.2 s`, `1.5 ms`.
    var shortText: String {
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
