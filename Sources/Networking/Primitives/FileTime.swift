package import Foundation

extension stat {
    /// The time of the last change of the content.
    package var modificationTime: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }
}
