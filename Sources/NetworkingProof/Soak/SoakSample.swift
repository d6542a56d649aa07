#if os(Linux)
    import Foundation

    /// The resources that the process uses at one moment.
    struct SoakSample: Sendable {
        var residentKiB: Int
        var descriptors: Int
        var threads: Int

        /// The resources in use now.
        static var now: SoakSample {
            let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
            let resident = (pages.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * Int(getpagesize()) / 1_024
            return SoakSample(
                residentKiB: resident, descriptors: count("/proc/self/fd"), threads: count("/proc/self/task"))
        }

        /// The number of entries of a folder.
        private static func count(_ path: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? 0
        }
    }
#endif
