import Foundation
import Networking

/// Calls, and the tasks that are derived from them. The moves observe tasks, cancel tasks, make attempts and end calls,
/// in every order.
final class TaskSystem: LiveSystem {
    struct Options: Sendable {
        /// The number of calls that exist from the beginning.
        var calls = 2
        /// The largest number of tasks. Calls and derived tasks count.
        var tasks = 4
        /// Whether the moves also add callbacks and waiting callers, which are interested in tasks.
        var hasOwnObservers = true
        /// The largest number of attempts of a call. Each attempt also receives a byte.
        var attempts = 0
        /// Whether the closure of `flatMap` may return a task that is created later: the derived task itself, or a task
        /// that is derived from it.
        var hasLaterTasks = false
    }

    enum Move: CustomStringConvertible, Sendable {
        case map(Int)
        case recover(Int)
        case all(Int, Int)
        /// The closure of the derived task returns another task.
        case flatMap(Int, next: Int)
        case observe(Int)
        case join(Int)
        case leave(Int)
        case cancel(Int)
        case attempt(Int)
        case succeed(Int)
        case fail(Int)

        var description: String {
            switch self {
            case .map(let task): "task \(task + 1).map"
            case .recover(let task): "task \(task + 1).recover"
            case .all(let first, let second): "all(task \(first + 1), task \(second + 1))"
            case .flatMap(let task, let next): "task \(task + 1).flatMap { task \(next + 1) }"
            case .observe(let task): "task \(task + 1) is observed"
            case .join(let task): "a caller waits for task \(task + 1)"
            case .leave(let task): "the caller of task \(task + 1) stops waiting"
            case .cancel(let task): "task \(task + 1) is cancelled"
            case .attempt(let task): "call \(task + 1) ends an attempt"
            case .succeed(let task): "call \(task + 1) succeeds"
            case .fail(let task): "call \(task + 1) fails"
            }
        }
    }

    struct Failure: Error {}

    private final class List: @unchecked Sendable {  // because one thread uses it
        var nodes: [Node] = []
    }

    let options: Options
    private let list = List()
    var nodes: [Node] { list.nodes }
    var faults: [String] = []
    private let response: HTTPResponse

    init(_ options: Options) {
        self.options = options
        let url = URL(string: "https://a.example/") ?? URL(fileURLWithPath: "/")
        response = HTTPResponse(.ok, to: HTTPRequest(.get, url))
        for _ in 0..<options.calls { add(call()) }
    }

    /// Creates a call. Only a move ends the call, even after the call was cancelled.
    private func call() -> Node {
        final class Stop: @unchecked Sendable {  // because one thread uses it
            weak var node: Node?
        }
        let stop = Stop()
        let interest = TaskInterest(CallScope(), endingBy: { stop.node?.isStopped = true })
        let task = RequestTask<Int>(
            of: .get("\(nodes.count)"), track: CallTrack(), callbacks: PendingCallbacks(), interest,
            Settlement<Response<Int>>())
        let node = Node(task, isCall: true)
        stop.node = node
        return node
    }

    private func add(_ node: Node) {
        node.task.track.observe { [weak node] event in
            guard case .attemptEnded(let attempt) = event else { return }
            node?.track.append(attempt.number)
        }
        list.nodes.append(node)
    }

    /// Ends an attempt of a call. The number of the attempt is the index of the call.
    private func endAttempt(_ index: Int) {
        let node = nodes[index]
        node.attempts += 1
        node.task.track.note(.adapted(response.request))
        node.task.track.meter.noteReceived(1)
        node.task.track.note(
            .attemptEnded(
                RequestAttempt(number: index, request: nil, response: nil, error: nil, duration: .zero)))
    }

    private func end(_ index: Int, _ outcome: Result<Response<Int>, any Error>) {
        let task = nodes[index].task
        task.track.note(.finished(CallReport(of: task.endpoint, last: nil, duration: .zero)))
        task.settle(outcome)
    }

    var moves: [Move] {
        var moves: [Move] = []
        for (index, node) in nodes.enumerated() {
            if nodes.count < options.tasks {
                moves += [.map(index), .recover(index)]
                for other in nodes.indices where other > index { moves.append(.all(index, other)) }
                for other in nodes.indices where other != index { moves.append(.flatMap(index, next: other)) }
                if options.hasLaterTasks, !node.isOver {
                    for later in nodes.count..<options.tasks { moves.append(.flatMap(index, next: later)) }
                }
            }
            if options.hasOwnObservers {
                if node.observers == 0 { moves.append(.observe(index)) }
                if node.joined == 0, !node.isOver { moves.append(.join(index)) }
                if node.joined > 0 { moves.append(.leave(index)) }
            }
            moves.append(.cancel(index))
            if node.isCall, !node.isOver {
                moves += [.succeed(index), .fail(index)]
                if node.attempts < options.attempts { moves.append(.attempt(index)) }
            }
        }
        return moves
    }

    func make(_ move: Move) -> [String] {
        faults = []
        switch move {
        case .map(let index): derive(nodes[index].task.map { $0 + 1 }, from: [index], kind: 1)
        case .recover(let index): derive(nodes[index].task.recover { _ in 7 }, from: [index], kind: 2)
        case .all(let first, let second):
            guard let both = RequestTask<[Int]>.all([nodes[first].task, nodes[second].task]) else { break }
            derive(both.map { $0.reduce(0, +) }, from: [first, second], kind: 3)
        case .flatMap(let index, let next):
            let task = nodes[index].task.flatMap { [weak list] _ in
                guard let list, list.nodes.indices.contains(next) else { throw Failure() }
                return list.nodes[next].task
            }
            derive(task, from: [index], next: next, kind: 4)
        case .observe(let index): observe(nodes[index])
        case .join(let index):
            nodes[index].joined += 1
            nodes[index].task.interest.join()
        case .leave(let index):
            nodes[index].joined -= 1
            nodes[index].task.interest.leave()
        case .cancel(let index): cancel(index)
        case .attempt(let index): endAttempt(index)
        case .succeed(let index): end(index, .success(Response(1, response)))
        case .fail(let index): end(index, .failure(Failure()))
        }
        settle()
        check()
        return faults
    }

    private func derive(_ task: RequestTask<Int>, from sources: [Int], next: Int? = nil, kind: UInt8) {
        let node = Node(task, isCall: false)
        (node.sources, node.next, node.kind) = (sources, next, kind)
        add(node)
        beginFollowing()
    }

    private func observe(_ node: Node) {
        node.observers += 1
        node.task.observe { [weak node] outcome in node?.heard.append(TaskSystem.name(outcome)) }
    }

    static func name(_ outcome: Result<Response<Int>, any Error>) -> String { name(outcome.map(\.value)) }

    static func name(_ outcome: Result<Int, any Error>) -> String {
        switch outcome {
        case .success(let value): "\(value)"
        case .failure(let error): (error as? NetworkError).map { "\($0.kind)" } ?? "failed"
        }
    }

    func end() -> [String] {
        faults = []
        // All calls end here, because the end of a call breaks the retain cycle between its task and the observers.
        for (index, node) in nodes.enumerated() where node.isCall && !node.isOver { end(index, .failure(Failure())) }
        settle()
        aFailedClosureFailsTheTask()
        everyTaskEnds()
        return faults
    }

    func write(to key: inout StateKey) {
        for node in nodes {
            key.write([node.kind] + node.sources.map { UInt8($0 + 1) } + [0, UInt8((node.next ?? -1) + 1)])
            key.write(
                node.isFollowing, node.isFollowingEnded, node.hasFailed, node.isCancelled, node.isStopped,
                node.observers > 0,
                node.joined > 0,
                node.task.isCancelled)
            key.write(Array((node.outcome ?? "").utf8) + [0xFF])
            key.write(node.track.map { UInt8($0) } + [0xFF])
        }
    }
}
