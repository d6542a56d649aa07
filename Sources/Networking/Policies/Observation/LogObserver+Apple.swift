#if canImport(Darwin)
    public import os

    extension LogObserver {
        /// Creates an observer that writes each line at its level to the system's log. The lines are public in the log,
        /// because they contain only what the redaction shows.
        public init(logger: Logger, level: Level = .info, bodyLimit: Int = 1_024, redaction: Redaction = .standard) {
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
