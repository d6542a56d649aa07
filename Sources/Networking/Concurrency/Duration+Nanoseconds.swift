extension Duration {
    /// The whole nanoseconds, cut to what fits.
    var nanoseconds: Int {
        let (seconds, attoseconds) = components
        let limit = Int64(Int.max / 1_000_000_000 - 1)
        return Int(min(max(seconds, -limit), limit)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}
