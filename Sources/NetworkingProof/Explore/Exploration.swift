/// Visits each state of a world once, breadth first, and checks each move for broken rules.
struct Exploration<Explored: World> {
    /// A broken rule, and the shortest sequence of moves that breaks it.
    struct Violation {
        let rule: String
        let history: [String]
    }

    /// The origin of a state: the previous state, and the number of the move from the previous state to this state.
    private struct Origin {
        let parent: UInt32
        let move: UInt8
    }

    private let initial: [Explored]
    private let limit: Int
    private var known: Set<StateKey.Fingerprint> = []
    private var origins: [Origin] = []
    private var layer: [(index: UInt32, world: Explored)] = []
    private var key = StateKey()
    private(set) var moves = 0
    private(set) var depth = 0
    private(set) var violation: Violation?

    /// - Parameter limit: The number of states after which the exploration stops.
    init(from initial: [Explored], limit: Int) {
        self.initial = initial
        self.limit = limit
    }

    var states: Int { origins.count }

    /// Whether all reachable states have been visited.
    private(set) var isComplete = false

    /// Explores until there is no new state, the limit is reached, or a rule is broken.
    ///
    /// - Parameter progress: Called after each layer.
    mutating func run(progress: (Self) -> Void) {
        for (number, world) in initial.enumerated() { insert(world, Origin(parent: .max, move: UInt8(number))) }
        while !layer.isEmpty {
            let current = layer
            layer = []
            for (index, world) in current {
                for (number, move) in world.moves.enumerated() {
                    var next = world
                    let faults = next.make(move)
                    moves += 1
                    if let rule = faults.first {
                        violation = Violation(rule: rule, history: history(to: index) + ["\(move)"])
                        return
                    }
                    insert(next, Origin(parent: index, move: UInt8(number)))
                }
                guard states < limit else { return }
            }
            depth += 1
            progress(self)
        }
        isComplete = true
    }

    private mutating func insert(_ world: Explored, _ origin: Origin) {
        key.removeAll()
        world.write(to: &key)
        guard known.insert(key.fingerprint).inserted else { return }
        layer.append((UInt32(origins.count), world))
        origins.append(origin)
    }

    /// The moves from an initial state to the state with this index.
    private func history(to index: UInt32) -> [String] {
        var steps: [Int] = []
        var index = index
        while origins[Int(index)].parent != .max {
            steps.append(Int(origins[Int(index)].move))
            index = origins[Int(index)].parent
        }
        var world = initial[Int(origins[Int(index)].move)]
        return steps.reversed().map { step in
            let move = world.moves[step]
            _ = world.make(move)
            return "\(move)"
        }
    }
}
