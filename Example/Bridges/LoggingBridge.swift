import Foundation
import Logging
import Networking

extension LogObserver {
    /// Writes the calls to swift-log: `$0.observers = [LogObserver(to: Logger(label: "shop"))]`.
    ///
    /// - Parameters:
    ///   - logger: The logger. Its level is applied, too.
    ///   - level: The lowest level that is written.
    ///   - redaction: Determines what is shown.
    init(to logger: Logger, level: Level = .info, redaction: Redaction = .standard) {
        self.init(level: level, redaction: redaction) { line in
            let level: Logger.Level =
                switch line.level {
                case .debug: .debug
                case .info: .info
                case .warning: .warning
                case .error: .error
                }
            // The template contains no values, so it may be an index of the log.
            logger.log(
                level: level, "\(line.message)",
                metadata: [
                    "call": .string(line.call.id.uuidString), "route": .string(line.call.endpoint.urlTemplate),
                ])
        }
    }
}
