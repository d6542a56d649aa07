import Foundation

/// The input in progress, in memory that a signal handler can read. If the process crashes, the handler prints the
/// input.
enum CrashNote {
    private static let capacity = 8_192
    private nonisolated(unsafe) static let text = UnsafeMutablePointer<UInt8>  // because only one thread writes it
        .allocate(capacity: capacity)
    private nonisolated(unsafe) static var count = 0  // because the handler reads it after the writer has stopped

    /// Prints the input if one of these signals ends the process.
    static func install() {
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
            signal(number) { number in
                CrashNote.print()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    /// Writes the target, the seed, and the number and the bytes of the input.
    static func note(_ target: String, _ seed: UInt64, _ number: Int, _ input: [UInt8]) {
        var position = 0
        func append(_ bytes: some Sequence<UInt8>) {
            for byte in bytes where position < capacity {
                text[position] = byte
                position += 1
            }
        }
        append("fuzz \(target): seed \(seed), input \(number) crashes. Its bytes in hexadecimal: ".utf8)
        for byte in input.prefix(3_900) { append([digit(byte >> 4), digit(byte & 15)]) }
        append("\n".utf8)
        count = position
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func print() {
        _ = write(2, text, count)
    }
}
