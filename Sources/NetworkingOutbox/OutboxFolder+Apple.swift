#if canImport(Darwin)
    import Foundation

    extension OutboxFolder {
        /// Protects the files until the device was unlocked once after it started, so that writes can be sent in the
        /// background, and keeps them out of backups: a restored entry would be sent again.
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
