import Foundation

extension JSONValue {
    /// Whether the value is an array or an object.
    var isContainer: Bool {
        switch self {
        case .array, .object: true
        default: false
        }
    }

    /// Compares two values. The comparison is a loop, because a value from a response may be nested more levels deep
    /// than the stack of a thread allows.
    public static func == (first: JSONValue, second: JSONValue) -> Bool {
        guard first.isContainer, second.isContainer else { return isSame(first, second, later: { _, _ in }) }
        var pairs = [(first, second)]
        while let (one, other) = pairs.popLast() {
            guard isSame(one, other, later: { pairs.append(($0, $1)) }) else { return false }
        }
        return true
    }

    /// Compares two elements or members directly, unless both are arrays or objects.
    private static func isSame(
        _ first: JSONValue, _ second: JSONValue, orLater later: (JSONValue, JSONValue) -> Void
    ) -> Bool {
        guard first.isContainer, second.isContainer else { return isSame(first, second, later: later) }
        later(first, second)
        return true
    }

    /// Compares two values, except for the arrays and objects in them. Passes these arrays and objects to `later`.
    private static func isSame(
        _ first: JSONValue, _ second: JSONValue, later: (JSONValue, JSONValue) -> Void
    ) -> Bool {
        switch (first, second) {
        case (.null, .null): return true
        case (.bool(let one), .bool(let other)): return one == other
        case (.int(let one), .int(let other)): return one == other
        case (.uint(let one), .uint(let other)): return one == other
        case (.double(let one), .double(let other)): return one == other
        case (.decimal(let one), .decimal(let other)): return one == other
        case (.string(let one), .string(let other)): return one == other
        case (.array(let one), .array(let other)):
            guard one.count == other.count else { return false }
            for (element, counterpart) in zip(one, other) {
                guard isSame(element, counterpart, orLater: later) else { return false }
            }
            return true
        case (.object(let one), .object(let other)):
            guard one.count == other.count else { return false }
            for (name, member) in one {
                guard let counterpart = other[name], isSame(member, counterpart, orLater: later) else { return false }
            }
            return true
        default: return false
        }
    }
}
