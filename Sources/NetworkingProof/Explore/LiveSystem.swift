/// Objects of the library that cannot be copied, and the moves that are possible with them.
protocol LiveSystem: AnyObject {
    associatedtype Options: Sendable
    associatedtype Move: CustomStringConvertible & Sendable

    init(_ options: Options)
    /// The moves that are possible now, always in the same order.
    var moves: [Move] { get }
    /// Makes a move, and returns descriptions of the rules that it has broken.
    func make(_ move: Move) -> [String]
    /// Writes the parts of the state that affect later moves.
    func write(to key: inout StateKey)
    /// Ends all calls and tasks that are in progress, and returns descriptions of the rules that are broken.
    func end() -> [String]
}

/// A world whose states are the histories of a ``LiveSystem``. To make a move, the world creates a new system and
/// repeats all earlier moves.
struct ReplayedWorld<System: LiveSystem>: World {
    private let options: System.Options
    private var history: [System.Move] = []
    private(set) var moves: [System.Move] = []
    private var state = StateKey()

    init(_ options: System.Options) {
        self.options = options
        let system = System(options)
        note(system)
        _ = system.end()
    }

    mutating func make(_ move: System.Move) -> [String] {
        let system = System(options)
        for past in history { _ = system.make(past) }
        history.append(move)
        let faults = system.make(move)
        note(system)
        return faults + system.end()
    }

    private mutating func note(_ system: System) {
        moves = system.moves
        state.removeAll()
        system.write(to: &state)
    }

    func write(to key: inout StateKey) { key.write(state.bytes) }
}
