/// A model that can be explored: states, and moves that lead from one state to the next.
protocol World: Sendable {
    associatedtype Move: CustomStringConvertible & Sendable

    /// The moves that are possible now, always in the same order.
    var moves: [Move] { get }

    /// Makes a move.
    ///
    /// - Returns: Descriptions of the rules that the move has broken.
    mutating func make(_ move: Move) -> [String]

    /// Writes the parts of the state that affect later moves. States that write the same bytes count as the same state.
    func write(to key: inout StateKey)
}
