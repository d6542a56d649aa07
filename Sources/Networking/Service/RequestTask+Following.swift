/// The state of a task that takes over the outcome of another task.
///
/// A task that polls, `poll() = task.flatMap { $0.isDone ? last : poll() }`, creates one task in each round. Each task
/// takes over the outcome of the next task. When a task A begins to follow a task B, the followers of A follow B
/// instead. Therefore the first task always follows the newest task, and the tasks in between are released.
struct Successor<Value: Sendable>: Sendable {
    fileprivate struct Follower: Sendable {
        weak let task: RequestTask<Value>?
    }

    /// The task whose outcome this task takes over; nil before this task follows another task, and after this task has
    /// settled.
    fileprivate var target: RequestTask<Value>?
    /// The tasks that take over the outcome of this task. The references are weak: a follower that is still needed is
    /// retained by its observers.
    fileprivate var followers: [Follower] = []
}

extension Locked {
    /// Settles the followers with the outcome, and releases them.
    func settle<Value>(_ outcome: Settlement<Response<Value>>.Outcome) where State == Successor<Value> {
        let before = withLock { state in
            defer { state = Successor() }
            return state
        }
        for follower in before.followers {
            guard let task = follower.task else { continue }
            Trampoline.run { task.settle(outcome) }
        }
    }
}

extension RequestTask {
    /// Takes over the outcome, the progress and the attempts of another task.
    func follow(_ other: RequestTask) {
        guard other !== self else { return settle(.failure(NetworkError.waitsForItself)) }
        let followers = successor.withLock { state in
            defer { state = Successor(target: other) }
            return state.followers.compactMap(\.task)
        }
        for follower in followers { follower.attach(to: other, isPassedOver: false) }
        attach(to: other, isPassedOver: !followers.isEmpty)
    }

    private func attach(to other: RequestTask, isPassedOver: Bool) {
        var target = other
        var passed: [TaskInterest] = []
        while let next = target.successor.withLock({ state in
            if state.target == nil { state.followers.append(.init(task: self)) }
            return state.target
        }) {
            guard next !== self else { return settle(.failure(NetworkError.waitsForItself)) }
            passed.append(target.interest)
            target = next
        }
        successor.withLock { $0.target = target }
        interest.follow(target.interest, isPassedOver: isPassedOver)
        for task in passed { task.passOver() }
        track.follow(target.track)
        if let outcome = target.settlement.outcome { target.successor.settle(outcome) }
    }
}

extension NetworkError {
    fileprivate static var waitsForItself: NetworkError {
        NetworkError(
            .invalidRequest,
            reason: "flatMap: the closure returned the derived task itself, which would wait for itself"
        )
    }
}
