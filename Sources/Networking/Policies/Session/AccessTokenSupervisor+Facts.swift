import Foundation

extension AccessTokenSupervisor: InspectablePart {
    /// The state of the session, without its token.
    public func facts() async -> [(name: String, value: String)] {
        let token = accessToken
        let state = isOver ? "over" : isUnread ? "not read yet" : token == nil ? "logged out" : "logged in"
        let left = token?.expiresAt.map { $0.timeIntervalSince(clock.date()) }
        let expiry = left.map { left in
            left <= 0 ? "has expired" : left < 1e9 ? "expires in \(Int(left)) s" : "does not expire soon"
        }
        return [
            ("session", state), ("refresh in progress", isRefreshing ? "yes" : "no"),
            ("calls that wait for a token", "\(waiterCount)"),
            ("token", token == nil ? "none" : expiry ?? "does not say when it expires"),
        ]
    }
}
