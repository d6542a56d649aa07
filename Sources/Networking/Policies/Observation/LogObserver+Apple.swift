#if canImport(os)
    public import os

    extension LogObserver {
        /// Makes an observer that writes to the system's log, each line at its level. What it writes is public there:
        /// it holds what the redaction lets through, and no more.
        public init(
            logger: Logger, level: Level = .info, bodyLimit: Int = 1_024, redaction: Redaction = .standard
        ) {
            self.init(level: level, bodyLimit: bodyLimit, redaction: redaction) { line in
                switch line.level {
                case .debug: logger.debug("\(line.description, privacy: .public)")
                case .info: logger.info("\(line.description, privacy: .public)")
                case .warning: logger.notice("\(line.description, privacy: .public)")
                case .error: logger.error("\(line.description, privacy: .public)")
                }
            }
        }
    }
#endif
