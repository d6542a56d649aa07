/// A model that can be explored: states that follow one another by moves.
protocol World: Sendable {
    associatedtype Move: CustomStringConvertible & Sendable

    /// The moves that are possible now, always in the same order.
    var moves: [Move] { get }

    /// Makes a move.
    ///
    /// - Returns: The rules that it has broken, in words.
    mutating func make(_ move: Move) -> [String]

    /// Writes what matters of the state for what can follow. States that write the same bytes count as the same state.
    func write(to key: inout StateKey)
}
