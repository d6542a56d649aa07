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
