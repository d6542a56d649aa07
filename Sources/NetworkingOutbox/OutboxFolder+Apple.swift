#if canImport(Darwin)
    import Foundation

    extension OutboxFolder {
        /// Protects the files only until the device has been unlocked for the first time after a restart, so that
        /// writes can be sent in the background. Excludes the files from backups, because a restored entry would be
        /// sent again.
        func protect() throws {
            try FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: url.path)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var folder = url
            try folder.setResourceValues(values)
        }
    }
#endif
