extension RequestProgress {
    /// The progress of a body's transfer in one direction.
    public struct Transfer: Hashable, Sendable {
        /// The number of bytes transferred. This number does not decrease if a retry starts at zero. It decreases only
        /// if a new total is smaller than this number.
        public var completed: Int64
        /// The expected number of bytes in total; nil if it is not known.
        public var total: Int64?
        /// The recent transfer rate in bytes per second; nil until it can be measured.
        public var bytesPerSecond: Double?

        /// Creates the progress of one direction.
        package init(completed: Int64 = 0, total: Int64? = nil, bytesPerSecond: Double? = nil) {
            self.completed = completed
            self.total = total
            self.bytesPerSecond = bytesPerSecond
        }

        /// The fraction of the body that has been transferred, from 0 to 1; nil if the total is not known. It is 1 for
        /// an empty body.
        public var fraction: Double? {
            total.map { $0 > 0 ? min(Double(completed) / Double($0), 1) : 1 }
        }
    }
}

extension RequestProgress.Transfer: CustomStringConvertible {
    /// A readable text: `1048576 of 4194304 bytes (25 %)`.
    public var description: String {
        guard let total, let fraction else { return "\(completed) bytes" }
        return "\(completed) of \(total) bytes (\(Int(fraction * 100)) %)"
    }
}

/// The progress of a call: the bytes it sends and the bytes it receives.
public struct RequestProgress: Hashable, Sendable {
    /// The progress of the request's body.
    public var upload: RequestProgress.Transfer
    /// The progress of the response's body. Only the body of a successful response (2xx) is counted.
    public var download: RequestProgress.Transfer

    /// Creates the progress of a call.
    package init(
        upload: RequestProgress.Transfer = RequestProgress.Transfer(),
        download: RequestProgress.Transfer = RequestProgress.Transfer()
    ) {
        self.upload = upload
        self.download = download
    }
}
