import Foundation

/// The input in progress. It is printed if the process crashes, or if the input takes longer than the limit.
final class FuzzNote: @unchecked Sendable {  // because of the lock around every variable
    private let lock = NSLock()
    private let target: String
    private let seed: UInt64
    private var number = 0
    private var input: [UInt8] = []
    private var started = ContinuousClock.now
    private var isOver = false
    /// The time after which an input counts as hanging. Slow inputs are reported when they have ended.
    private static let limit = Duration.seconds(20)

    init(target: String, seed: UInt64) {
        (self.target, self.seed) = (target, seed)
        CrashNote.install()
        Thread.detachNewThread { [self] in
            while isInTime() { Thread.sleep(forTimeInterval: 0.5) }
        }
    }

    /// Records that an input is being processed.
    func begin(_ number: Int, _ input: [UInt8]) {
        lock.withLock { (self.number, self.input, started) = (number, input, ContinuousClock.now) }
        CrashNote.note(target, seed, number, input)
    }

    func end() {
        lock.withLock { isOver = true }
    }

    /// Returns whether inputs are still being processed. Ends the process if an input has taken too long.
    private func isInTime() -> Bool {
        lock.withLock {
            guard !isOver else { return false }
            guard ContinuousClock.now - started > FuzzNote.limit else { return true }
            let text = "fuzz \(target): seed \(seed), input \(number) does not end: \(FuzzNote.escaped(input))\n"
            FileHandle.standardError.write(Data(text.utf8))
            _exit(1)
        }
    }

    /// Returns bytes as a text in quotes: printable ASCII as it is, other bytes as `\x0a`.
    static func escaped(_ bytes: [UInt8]) -> String {
        let text = bytes.map { byte in
            byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"")
                ? "\\\(Character(Unicode.Scalar(byte)))"
                : (0x20..<0x7F).contains(byte)
                    ? String(Unicode.Scalar(byte))
                    : "\\x\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
        }
        return "\"\(text.joined())\""
    }
}
