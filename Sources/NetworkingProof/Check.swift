/// A check of one property of the library.
protocol Check: Sendable {
    /// The name on the command line.
    var name: String { get }
    /// The names of the parts. Each part can be run alone.
    var parts: [String] { get }
    /// Runs the check, and reports each result in one line.
    func run(_ report: Report, _ settings: ProofSettings) async throws
}

/// The options of the command line.
struct ProofSettings: Sendable {
    /// Whether to run smaller checks, for CI.
    var isQuick = false
    /// The seed of the random numbers.
    var seed: UInt64 = 1
    /// The names of the parts to run, which follow the name of the check. If empty, all parts run.
    var parts: Set<String> = []
    /// The size of the check. If nil, the check uses its default size.
    var count: Int?
    /// The path of the file for a plot. If nil, no plot is written.
    var plot: String?

    func includes(_ part: String) -> Bool { parts.isEmpty || parts.contains(part) }
}
