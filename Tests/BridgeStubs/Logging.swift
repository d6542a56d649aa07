// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The signatures of swift-log that `Example/Bridges` uses: apple/swift-log 1.14.0, Sources/Logging/Logger.swift.

public struct Logger: Sendable {
    public struct Message: ExpressibleByStringInterpolation, Sendable {
        public typealias StringLiteralType = String
        public init(stringLiteral value: String) {}
    }

    public typealias Metadata = [String: MetadataValue]

    public enum MetadataValue: Sendable {
        case string(String)
    }

    public enum Level: String, Codable, CaseIterable, Sendable {
        case trace, debug, info, notice, warning, error, critical
    }

    public init(label: String) {}

    public func log(
        level: Logger.Level, _ message: @autoclosure () -> Logger.Message,
        metadata: @autoclosure () -> Logger.Metadata? = nil, source: @autoclosure () -> String? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {}
}
