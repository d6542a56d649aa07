#if canImport(Darwin)
    import Foundation

    extension NSNumber {
        /// Whether the number is a Boolean. The C type cannot show this, because a Boolean and an `Int8` have the same
        /// C type. The Core Foundation type can.
        var isTruthValue: Bool { CFGetTypeID(self) == CFBooleanGetTypeID() }
    }
#endif
