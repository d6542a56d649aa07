import Foundation

/// The system that the library was built for, with the names that `User-Agent` fields use.
enum OperatingSystem {
    /// `Linux`, `macOS`, `iOS`, `tvOS`, `watchOS` or `visionOS`.
    static var name: String {
        #if os(macOS)
            "macOS"
        #elseif os(iOS)
            "iOS"
        #elseif os(tvOS)
            "tvOS"
        #elseif os(watchOS)
            "watchOS"
        #elseif os(visionOS)
            "visionOS"
        #else
            "Linux"
        #endif
    }

    /// The version of the running system, such as `17.4.1`.
    static var version: String {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
    }
}
