// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The signatures of swift-metrics that `Example/Bridges` uses: apple/swift-metrics 2.10.1,
// Sources/CoreMetrics/Metrics.swift, which the module `Metrics` exports.

public final class Counter {
    public convenience init(label: String, dimensions: [(String, String)] = []) { self.init() }
    public func increment<DataType: BinaryInteger>(by amount: DataType) {}
}

public final class Timer {
    public convenience init(label: String, dimensions: [(String, String)] = []) { self.init() }
    public func recordNanoseconds(_ duration: Int64) {}
}
