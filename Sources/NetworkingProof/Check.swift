/// One thing that is proven, and by which means.
protocol Check: Sendable {
    /// As it is named on the command line.
    var name: String { get }
    /// Its parts, which can be run alone.
    var parts: [String] { get }
    /// Runs it, and reports each result in one line.
    func run(_ report: Report, _ settings: ProofSettings) async throws
}

/// What the command line says.
struct ProofSettings: Sendable {
    /// Less of everything: for CI.
    var isQuick = false
    /// What chance is seeded with.
    var seed: UInt64 = 1
    /// The names after that of the check: which of its parts are to run; all if empty.
    var parts: Set<String> = []
    /// A size in place of the check's own.
    var count: Int?

    func includes(_ part: String) -> Bool { parts.isEmpty || parts.contains(part) }
}
