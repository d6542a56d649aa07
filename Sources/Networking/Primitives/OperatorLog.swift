import Foundation

/// Reports facts to the operator of a program that no error reports.
enum OperatorLog {
    /// Writes a line to standard error.
    static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("Networking: \(text)\n".utf8))
    }
}
