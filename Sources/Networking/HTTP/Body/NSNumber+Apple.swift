#if canImport(Darwin)
    import Foundation

    extension NSNumber {
        /// Whether the number is a Boolean. Uses the Core Foundation type, because a Boolean and an `Int8` have the
        /// same C type.
        var isTruthValue: Bool { CFGetTypeID(self) == CFBooleanGetTypeID() }
    }
#endif
