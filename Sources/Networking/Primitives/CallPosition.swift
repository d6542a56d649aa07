/// Where a task stands with regard to the calls of the library.
enum CallPosition: Sendable {
    /// In a call, the scope of which ends its waits.
    case inside(CallScope)
    /// In work that a call has begun for others as well, and that goes on when it ends.
    case beside(CallScope)

    /// Where the current task stands; nil where it has nothing to do with a call.
    @TaskLocal static var current: CallPosition?

    /// The call that made the task do what it does.
    var scope: CallScope {
        switch self {
        case .inside(let scope), .beside(let scope): scope
        }
    }

    /// The call that ends the task's waits.
    var owner: CallScope? { if case .inside(let scope) = self { scope } else { nil } }

    /// Whether there is a place already for what the task does: what is called from there must not wait for one.
    var hasPlace: Bool {
        switch self {
        case .inside(let scope): scope.holdsPlace
        case .beside: true
        }
    }
}

extension CallScope {
    /// The scope of the call that the current task runs in.
    static var current: CallScope? { CallPosition.current?.owner }
}
