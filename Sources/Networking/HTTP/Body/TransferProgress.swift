extension RequestProgress {
    /// How far the transfer of a body has come, in one direction.
    public struct Transfer: Hashable, Sendable {
        /// How many bytes have passed. It never runs backwards, also where a retry begins anew, unless there is
        /// less to come than there was before.
        public var completed: Int64
        /// How many bytes there will have been at the end; nil if nobody knows.
        public var total: Int64?
        /// How many bytes passed a second, of late; nil until there is something to count.
        public var bytesPerSecond: Double?

        /// Makes a progress.
        package init(completed: Int64 = 0, total: Int64? = nil, bytesPerSecond: Double? = nil) {
            self.completed = completed
            self.total = total
            self.bytesPerSecond = bytesPerSecond
        }

        /// How much of the whole has passed, from 0 to 1; nil if the total is not known. Nothing of nothing is all of
        /// it.
        public var fraction: Double? {
            total.map { $0 > 0 ? min(Double(completed) / Double($0), 1) : 1 }
        }
    }
}

extension RequestProgress.Transfer: CustomStringConvertible {
    /// For people: `1048576 of 4194304 bytes (25 %)`.
    public var description: String {
        guard let total, let fraction else { return "\(completed) bytes" }
        return "\(completed) of \(total) bytes (\(Int(fraction * 100)) %)"
    }
}

/// How far a call has come with the bytes it sends and the bytes it gets.
public struct RequestProgress: Hashable, Sendable {
    /// The request's body.
    public var upload: RequestProgress.Transfer
    /// The body of the response; of a response that is no success nothing counts.
    public var download: RequestProgress.Transfer

    /// Makes a progress.
    package init(
        upload: RequestProgress.Transfer = RequestProgress.Transfer(),
        download: RequestProgress.Transfer = RequestProgress.Transfer()
    ) {
        self.upload = upload
        self.download = download
    }
}
