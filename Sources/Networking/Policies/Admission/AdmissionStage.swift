/// Where a policy stands among those of its service: they are entered in this order and left in the opposite one, however they are listed.
public enum AdmissionStage: Int, Comparable, Sendable {
    /// It refuses what has no prospect: ``CircuitBreaker``.
    case breaker
    /// It holds back what the server does not want yet: ``BackoffGate``.
    case gate
    /// Everything that says nothing else.
    case custom
    /// It hands out places: ``ConcurrencyLimit``.
    case limit
    /// It waits for a token, and hears of a refusal before the place is handed on: `TokenGate`.
    case token

    /// Whether one stands before another.
    public static func < (lhs: AdmissionStage, rhs: AdmissionStage) -> Bool { lhs.rawValue < rhs.rawValue }
}
