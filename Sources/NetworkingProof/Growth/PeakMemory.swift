import Foundation

/// The memory that the process needs at most.
enum PeakMemory {
    /// Runs a closure, and returns by how many bytes the resident memory grew at most. Nil if the system does not say.
    static func during(_ body: () -> Void) -> Int? {
        #if os(Linux)
            trim()
            // Linux then counts the highest memory from now on (proc(5)).
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
