import Foundation

/// The peak memory of the process.
enum PeakMemory {
    /// Runs a closure, and returns the largest growth of the resident memory in bytes. Nil if the system does not
    /// report it.
    static func during(_ body: () -> Void) -> Int? {
        #if os(Linux)
            trim()
            // From now on, Linux records the peak of the resident memory (proc(5)).
            guard (try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))) != nil,
                let before = resident("VmRSS:")
            else { return nil }
            body()
            return resident("VmHWM:").map { $0 - before }
        #else
            body()
            return nil
        #endif
    }

    #if os(Linux)
        /// Returns free memory to the system, so that it is counted when it is used again. Glibc's module does not
        /// declare `malloc_trim`.
        private static func trim() {
            guard let symbol = dlsym(nil, "malloc_trim") else { return }
            typealias Trim = @convention(c) (Int) -> CInt
            _ = unsafeBitCast(symbol, to: Trim.self)(0)
        }

        private static func resident(_ name: String) -> Int? {
            guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
                let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
                let count = line.split(separator: " ", omittingEmptySubsequences: true).compactMap({ Int($0) }).first
            else { return nil }
            return count << 10
        }
    #endif
}
