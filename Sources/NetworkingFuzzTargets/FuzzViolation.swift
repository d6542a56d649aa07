import Foundation
import Networking

/// A rule that does not hold for an input.
struct FuzzViolation: Error {
    let rule: String
}

/// Throws a violation unless the condition is true.
func require(_ condition: Bool, _ rule: @autoclosure () -> String) throws(FuzzViolation) {
    guard condition else { throw FuzzViolation(rule: rule()) }
}

/// Throws a violation unless both values are equal.
func require<Value: Equatable>(_ found: Value, equals expected: Value, _ rule: String) throws(FuzzViolation) {
    guard found == expected else {
        throw FuzzViolation(rule: "\(rule): expected \(shown(expected)), found \(shown(found))")
    }
}

/// Throws a violation unless both texts have the same bytes. (`==` ignores how characters are composed.)
func require(_ found: String, equals expected: String, _ rule: String) throws(FuzzViolation) {
    guard found.utf8.elementsEqual(expected.utf8) else {
        throw FuzzViolation(rule: "\(rule): expected \(shown(expected)), found \(shown(found))")
    }
}

/// Throws a violation unless an error is a `NetworkError` of one of these kinds, with a reason of one line.
func requireReason(_ error: any Error, _ kinds: NetworkError.Kind...) throws(FuzzViolation) {
    guard let error = error as? NetworkError else {
        throw FuzzViolation(rule: "the error is of \(type(of: error)), not NetworkError: \(error)")
    }
    try require(kinds.contains(error.kind), "the error is of an unexpected kind: \(error.kind), \(error)")
    try require(error.reason?.isEmpty == false, "the error names no reason: \(error)")
    let isOneLine = error.description.utf8.allSatisfy { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
    try require(isOneLine, "the error's description is not one line: \(error.description.debugDescription)")
}

private func shown(_ value: some Any) -> String { String(reflecting: value) }
