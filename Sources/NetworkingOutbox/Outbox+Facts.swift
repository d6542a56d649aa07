public import Networking

extension Outbox: InspectablePart {
    /// The number of the current user's entries in each state.
    public func facts() async -> [(name: String, value: String)] {
        guard let entries = try? await pending() else { return [("entries", "the folder cannot be read")] }
        func count(_ isCounted: (Entry.State) -> Bool) -> String { "\(entries.count { isCounted($0.state) })" }
        return [
            ("entries", "\(entries.count)"), ("being sent", count { $0 == .sending }),
            ("that wait for a decision", count(\.needsDecision)),
            ("that wait for their user", count { $0 == .waitingForOwner }),
        ]
    }
}
