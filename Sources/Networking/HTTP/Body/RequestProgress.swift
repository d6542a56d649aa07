extension RequestProgress {
    /// The progress of a body's transfer in one direction.
    public struct Transfer: Hashable, Sendable {
        /// The number of bytes transferred. This number does not decrease if a retry starts at zero. It decreases only
        /// if a new total is smaller than this number.
        public var completed: Int64
        /// The expected number of bytes in total; nil if it is not known. It is not known for a body that is decoded,
        /// for example from gzip.
        public var total: Int64?
        /// The recent transfer rate in bytes per second; nil until it can be measured.
        public var bytesPerSecond: Double?
        /// The fraction of the encoded body that has been received, if the body is decoded.
        var encodedFraction: Double?

        /// Creates the progress of one direction.
        package init(completed: Int64 = 0, total: Int64? = nil, bytesPerSecond: Double? = nil) {
            self.completed = completed
            self.total = total
            self.bytesPerSecond = bytesPerSecond
        }

        /// The fraction of the body that has been transferred, from 0 to 1; nil if it is not known. It is 1 for an
        /// empty body. For a body that `CurlTransport` decodes, it is the fraction of the encoded body.
        public var fraction: Double? {
            total.map { $0 > 0 ? min(Double(completed) / Double($0), 1) : 1 } ?? encodedFraction
        }
    }
}

extension RequestProgress.Transfer: CustomStringConvertible {
    /// A readable text: `1048576 of 4194304 bytes (25 %)`.
    public var description: String {
        guard let fraction else { return "\(completed) bytes" }
        return "\(completed)\(total.map { " of \($0)" } ?? "") bytes (\(Int(fraction * 100)) %)"
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

/// Measures the progress of a call in one direction over all its attempts. The number of completed bytes is the
/// furthest position that an attempt has reached, limited to the current total. An attempt does not always start at
/// zero.
struct TransferCount: Sendable {
    private(set) var progress = RequestProgress.Transfer()
    /// The position of the current attempt, which may be less than the number of bytes already reported.
    private var position: Int64 = 0
    private var mark: (time: Duration, bytes: Int64)?
    private var moved: Int64 = 0

    mutating func begin(at start: Int64, of total: Int64?) {
        position = start
        progress.total = total
        if let total { progress.completed = min(progress.completed, total) }
        progress.completed = max(progress.completed, start)
    }

    /// Notes the fraction of an encoded body that has been received. Like the number of bytes, this fraction does not
    /// decrease.
    mutating func noteEncoded(_ fraction: Double?) {
        progress.encodedFraction = fraction.map { max(progress.encodedFraction ?? 0, min($0, 1)) }
    }

    mutating func add(_ count: Int, at time: Duration) {
        position = position.addingReportingOverflow(Int64(count)).partialValue
        moved += Int64(count)
        progress.completed = max(progress.completed, position)
        guard let mark else {
            mark = (time, moved)
            return
        }
        let elapsed = (time - mark.time) / .seconds(1)
        guard elapsed >= 0.25 else { return }
        let rate = Double(moved - mark.bytes) / elapsed
        // The newest rate has a weight of 60 %, so that a displayed remaining time does not jump, but still adapts
        // quickly.
        progress.bytesPerSecond = progress.bytesPerSecond.map { $0 * 0.4 + rate * 0.6 } ?? rate
        self.mark = (time, moved)
    }
}
