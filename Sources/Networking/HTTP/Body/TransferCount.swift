/// The bytes of one direction, over attempts that each begin anew.
struct TransferCount: Sendable {
    private(set) var progress = RequestProgress.Transfer()
    /// Where the attempt stands, which may be behind what was seen already.
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
        // What is new counts for more than half, so that a bar's "time left" is neither nervous nor late.
        progress.bytesPerSecond = progress.bytesPerSecond.map { $0 * 0.4 + rate * 0.6 } ?? rate
        self.mark = (time, moved)
    }
}
