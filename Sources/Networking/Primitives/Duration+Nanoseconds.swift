extension Duration {
    /// The number of whole nanoseconds, limited to about 292 years. The type is `Int64`, because `Int` can have only 32
    /// bits on watchOS. 32 bits of nanoseconds are only two seconds.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let limit = Int64.max / 1_000_000_000 - 1
        return min(max(seconds, -limit), limit) * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// The number of milliseconds, rounded up and limited to the range of `Int`.
    var milliseconds: Int { Int(clamping: (nanoseconds + 999_999) / 1_000_000) }
}

extension Duration {
    /// The duration as a text for messages, such as `30 s`, `0.2 s` or `1.5 ms`.
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
