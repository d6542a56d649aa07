#if canImport(Darwin)
    import Foundation

    extension NSNumber {
        /// Whether it is a truth value: an object of another class, of the same type in C as an `Int8`.
        var isTruthValue: Bool { CFGetTypeID(self) == CFBooleanGetTypeID() }
    }
#endif
