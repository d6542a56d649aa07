import Networking

extension FuzzTarget {
    /// The fields `RateLimit` and `RateLimit-Policy`. The numbers are not negative. A field that is written with these
    /// numbers is read as the same limit.
    static let rateLimit = FuzzTarget("rate-limit") { input in
        var headers: HTTPHeaders = ["RateLimit": input.field(0)]
        if input.parts.count > 1 { headers["RateLimit-Policy"] = input.field(1) }
        guard let limit = headers.rateLimit else { return }
        try require(limit.remaining >= 0, "\(limit.remaining) requests remain")
        try require(limit.reset.map { $0 >= .zero } ?? true, "the limit ends in \(limit.reset ?? .zero)")
        // If the server has not stated the time until the reset, this time is the window of the policy.
        var again: HTTPHeaders = ["RateLimit": "\"default\";r=\(limit.remaining)"]
        if let seconds = limit.reset?.components.seconds {
            if limit.isResetStated {
                again["RateLimit"]?.append(";t=\(seconds)")
            } else {
                again["RateLimit-Policy"] = "\"default\";w=\(seconds)"
            }
        }
        try require(again.rateLimit, equals: limit, "the limit changes")
    }
}
